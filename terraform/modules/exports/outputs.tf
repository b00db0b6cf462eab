output "bucket" {
  description = "Its name."
  value       = aws_s3_bucket.this.bucket
}

output "writer_policy" {
  description = "The IAM policy of who exports."
  value       = data.aws_iam_policy_document.writer.json
}
