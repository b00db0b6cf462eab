"""What deploys the crawler, tried as far as one machine goes: image, compose file, chart, Terraform."""
