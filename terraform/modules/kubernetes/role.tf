# The role of the workers' service account (IRSA): its token, signed by the cluster, is what AWS believes.

resource "aws_iam_openid_connect_provider" "this" {
  url            = aws_eks_cluster.this.identity[0].oidc[0].issuer
  client_id_list = ["sts.amazonaws.com"]
}

locals {
  issuer = trimprefix(aws_eks_cluster.this.identity[0].oidc[0].issuer, "https://")

  # As the chart names them; `gregor init` has one of its own.
  account          = strcontains(var.release, "gregor") ? var.release : "${var.release}-gregor"
  service_accounts = [local.account, "${local.account}-init"]
}

data "aws_iam_policy_document" "worker" {
  statement {
    actions = ["sts:AssumeRoleWithWebIdentity"]

    principals {
      type        = "Federated"
      identifiers = [aws_iam_openid_connect_provider.this.arn]
    }

    condition {
      test     = "StringEquals"
      variable = "${local.issuer}:aud"
      values   = ["sts.amazonaws.com"]
    }

    condition {
      test     = "StringEquals"
      variable = "${local.issuer}:sub"
      values   = [for account in local.service_accounts : "system:serviceaccount:${var.namespace}:${account}"]
    }
  }
}

resource "aws_iam_role" "worker" {
  name_prefix        = "${var.name}-worker-"
  assume_role_policy = data.aws_iam_policy_document.worker.json
}

resource "aws_iam_role_policy" "worker" {
  name   = "worker"
  role   = aws_iam_role.worker.id
  policy = var.policy
}
