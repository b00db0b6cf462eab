variables {
  user_agent     = "test/1.0 (+https://example.org/bot)"
  image          = "registry.example.org/team/gregor:0.1.0"
  redis_password = "0123456789abcdefXY"

  opensearch_domain_nodes = 0
  index_workers           = 0
}

run "feeds_the_chart" {
  command = plan

  assert {
    condition     = output.values.image == { repository = "registry.example.org/team/gregor", tag = "0.1.0", digest = "" }
    error_message = "The image's parts."
  }

  assert {
    condition     = toset(keys(output.values.files)) == toset(["redis_password_file", "viewer_token_file", "operator_token_file"])
    error_message = "Secrets are keys of one secret that is there."
  }

  assert {
    condition     = output.values.network_policy.servers == ["10.80.0.0/16"]
    error_message = "Servers are in the VPC, and nothing else is reached there."
  }
}

run "an_image_by_digest" {
  command = plan

  variables {
    image = "registry.example.org:5000/gregor@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
  }

  assert {
    condition     = output.values.image.repository == "registry.example.org:5000/gregor" && startswith(output.values.image.digest, "sha256:")
    error_message = "A port is no tag."
  }
}

run "amazon_opensearch" {
  command = plan

  variables {
    opensearch_domain_nodes = 3
    opensearch_password     = "Abcdefghijk1!"
    index_workers           = 2
  }

  assert {
    condition     = contains(keys(output.values.files), "opensearch_password_file") && output.values.index.replicas == 2
    error_message = "Workers of the index, and the password of their user as a file."
  }
}
