# Every day a snapshot of each disk, kept for some days: the way back from what replicas repeat, such as a wrong deletion.

data "aws_iam_policy_document" "snapshots_assume" {
  statement {
    actions = ["sts:AssumeRole"]

    principals {
      type        = "Service"
      identifiers = ["dlm.amazonaws.com"]
    }
  }
}

data "aws_iam_policy_document" "snapshots" {
  # checkov:skip=CKV_AWS_356:AWS knows no narrower resource for looking at disks and snapshots
  statement {
    sid       = "LookAtDisks"
    actions   = ["ec2:DescribeVolumes", "ec2:DescribeInstances", "ec2:DescribeSnapshots"]
    resources = ["*"]
  }

  statement {
    sid       = "SnapshotsOfOwnDisks"
    actions   = ["ec2:CreateSnapshot"]
    resources = [for volume in aws_ebs_volume.data : volume.arn]
  }

  statement {
    sid       = "MakeAndEndSnapshots"
    actions   = ["ec2:CreateSnapshot", "ec2:CreateTags", "ec2:DeleteSnapshot"]
    resources = ["arn:${data.aws_partition.current.partition}:ec2:${data.aws_region.current.region}::snapshot/*"]
  }
}

resource "aws_iam_role" "snapshots" {
  name_prefix        = "${local.purpose}-"
  assume_role_policy = data.aws_iam_policy_document.snapshots_assume.json
}

resource "aws_iam_role_policy" "snapshots" {
  name   = "snapshots"
  role   = aws_iam_role.snapshots.id
  policy = data.aws_iam_policy_document.snapshots.json
}

resource "aws_dlm_lifecycle_policy" "this" {
  description        = "Daily snapshots of ${local.purpose}"
  execution_role_arn = aws_iam_role.snapshots.arn
  state              = "ENABLED"

  policy_details {
    resource_types = ["VOLUME"]
    target_tags    = { Snapshots = local.purpose }

    schedule {
      name      = "daily"
      copy_tags = true

      create_rule {
        interval      = 24
        interval_unit = "HOURS"
        times         = ["03:00"]
      }

      retain_rule {
        count = var.snapshots
      }
    }
  }
}
