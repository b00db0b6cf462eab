variables {
  name        = "gregor"
  kms_key_arn = "arn:aws:kms:us-east-1:123456789012:key/11111111-2222-3333-4444-555555555555"
}

run "closed_encrypted_and_versioned" {
  assert {
    condition = (
      aws_s3_bucket_public_access_block.this.block_public_acls && aws_s3_bucket_public_access_block.this.block_public_policy &&
      aws_s3_bucket_public_access_block.this.ignore_public_acls && aws_s3_bucket_public_access_block.this.restrict_public_buckets
    )
    error_message = "Nothing in it is public, and nothing can be made so."
  }

  assert {
    condition     = one(aws_s3_bucket_server_side_encryption_configuration.this.rule).apply_server_side_encryption_by_default[0].kms_master_key_id == var.kms_key_arn
    error_message = "It is encrypted with the crawl's key."
  }

  assert {
    condition     = aws_s3_bucket_versioning.this.versioning_configuration[0].status == "Enabled"
    error_message = "An export that is written over can be had back."
  }

  assert {
    condition     = one(aws_s3_bucket_lifecycle_configuration.this.rule).status == "Enabled" && length(one(aws_s3_bucket_lifecycle_configuration.this.rule).expiration) == 1
    error_message = "An export ends."
  }

  assert {
    condition     = one(jsondecode(aws_s3_bucket_policy.this.policy).Statement).Effect == "Deny"
    error_message = "Its policy lets nobody in; it refuses plain text."
  }
}

run "who_exports_writes" {
  assert {
    condition = toset(flatten([for statement in jsondecode(output.writer_policy).Statement : statement.Action])) == toset([
      "s3:PutObject", "s3:AbortMultipartUpload", "kms:GenerateDataKey", "kms:Decrypt",
    ])
    error_message = "And neither reads nor lists nor deletes."
  }
}

run "wrong_values" {
  command = plan

  variables {
    keep_days = 7
  }

  expect_failures = [var.keep_days]
}
