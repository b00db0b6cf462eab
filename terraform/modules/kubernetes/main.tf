# EKS for the workers' chart: a control plane, nodes in private subnets, a role for the workers' service account.

data "aws_partition" "current" {}

locals {
  managed = "arn:${data.aws_partition.current.partition}:iam::aws:policy"
  arm     = can(regex("^[a-z]+[0-9]g", var.instance_type))

  # A worker asks for one CPU; a node keeps a part of one for itself.
  nodes = max(length(var.subnets), ceil((var.workers + var.index_workers) / 3))
}

data "aws_iam_policy_document" "control_plane" {
  statement {
    actions = ["sts:AssumeRole"]

    principals {
      type        = "Service"
      identifiers = ["eks.amazonaws.com"]
    }
  }
}

resource "aws_iam_role" "control_plane" {
  name_prefix        = "${var.name}-eks-"
  assume_role_policy = data.aws_iam_policy_document.control_plane.json
}

# EKS wants this policy of AWS's own.
resource "aws_iam_role_policy_attachment" "control_plane" {
  role       = aws_iam_role.control_plane.name
  policy_arn = "${local.managed}/AmazonEKSClusterPolicy"
}

# EKS would make it without end and without the key.
resource "aws_cloudwatch_log_group" "control_plane" {
  name              = "/aws/eks/${var.name}/cluster"
  retention_in_days = 365 # it holds who did what
  kms_key_id        = var.kms_key_arn
}

resource "aws_eks_cluster" "this" {
  name                          = var.name
  role_arn                      = aws_iam_role.control_plane.arn
  version                       = var.kubernetes_version
  enabled_cluster_log_types     = ["api", "audit", "authenticator", "controllerManager", "scheduler"]
  bootstrap_self_managed_addons = false
  depends_on                    = [aws_iam_role_policy_attachment.control_plane, aws_cloudwatch_log_group.control_plane]

  vpc_config {
    subnet_ids              = values(var.subnets)
    endpoint_private_access = true
    endpoint_public_access  = length(var.api_cidrs) > 0
    public_access_cidrs     = length(var.api_cidrs) > 0 ? var.api_cidrs : null
  }

  access_config {
    authentication_mode                         = "API"
    bootstrap_cluster_creator_admin_permissions = true
  }

  encryption_config {
    resources = ["secrets"]

    provider {
      key_arn = var.kms_key_arn
    }
  }
}

# The chart's network policies are kept by the network's add-on.
resource "aws_eks_addon" "network" {
  cluster_name                = aws_eks_cluster.this.name
  addon_name                  = "vpc-cni"
  resolve_conflicts_on_create = "OVERWRITE"
  resolve_conflicts_on_update = "OVERWRITE"
  configuration_values        = jsonencode({ enableNetworkPolicy = "true" })
}

resource "aws_eks_addon" "proxy" {
  cluster_name                = aws_eks_cluster.this.name
  addon_name                  = "kube-proxy"
  resolve_conflicts_on_create = "OVERWRITE"
  resolve_conflicts_on_update = "OVERWRITE"
}

# Needs nodes to run on.
resource "aws_eks_addon" "late" {
  for_each                    = toset(["coredns", "metrics-server"])
  cluster_name                = aws_eks_cluster.this.name
  addon_name                  = each.key
  resolve_conflicts_on_create = "OVERWRITE"
  resolve_conflicts_on_update = "OVERWRITE"
  depends_on                  = [aws_eks_node_group.this]
}
