# Machines for pods. Their security group is the one that the servers let in.

data "aws_iam_policy_document" "node" {
  statement {
    actions = ["sts:AssumeRole"]

    principals {
      type        = "Service"
      identifiers = ["ec2.amazonaws.com"]
    }
  }
}

resource "aws_iam_role" "node" {
  name_prefix        = "${var.name}-node-"
  assume_role_policy = data.aws_iam_policy_document.node.json
}

# EKS wants these policies of AWS's own. Pods cannot use this role: they are one hop too far from its credentials.
resource "aws_iam_role_policy_attachment" "node" {
  for_each   = toset(["AmazonEKSWorkerNodePolicy", "AmazonEKS_CNI_Policy", "AmazonEC2ContainerRegistryPullOnly"])
  role       = aws_iam_role.node.name
  policy_arn = "${local.managed}/${each.key}"
}

resource "aws_launch_template" "node" {
  name_prefix            = "${var.name}-node-"
  instance_type          = var.instance_type
  update_default_version = true
  vpc_security_group_ids = [aws_eks_cluster.this.vpc_config[0].cluster_security_group_id, var.security_group_id]

  metadata_options {
    http_endpoint               = "enabled"
    http_tokens                 = "required"
    http_put_response_hop_limit = 1
  }

  block_device_mappings {
    device_name = "/dev/xvda"

    ebs {
      volume_size = 40
      volume_type = "gp3"
      encrypted   = true
      kms_key_id  = var.kms_key_arn
    }
  }

  tag_specifications {
    resource_type = "instance"
    tags          = merge(var.tags, { Name = "${var.name}-node" })
  }

  tag_specifications {
    resource_type = "volume"
    tags          = merge(var.tags, { Name = "${var.name}-node" })
  }
}

resource "aws_eks_node_group" "this" {
  cluster_name           = aws_eks_cluster.this.name
  node_group_name_prefix = "${var.name}-"
  node_role_arn          = aws_iam_role.node.arn
  subnet_ids             = values(var.subnets)
  ami_type               = local.arm ? "AL2023_ARM_64_STANDARD" : "AL2023_x86_64_STANDARD"
  capacity_type          = var.spot ? "SPOT" : "ON_DEMAND"
  depends_on             = [aws_iam_role_policy_attachment.node, aws_eks_addon.network, aws_eks_addon.proxy]

  launch_template {
    id      = aws_launch_template.node.id
    version = aws_launch_template.node.latest_version
  }

  scaling_config {
    min_size     = local.nodes
    desired_size = local.nodes
    max_size     = local.nodes + length(var.subnets)
  }

  # One after another: each node that goes moves the partitions of its workers.
  update_config {
    max_unavailable = 1
  }

  lifecycle {
    create_before_destroy = true
  }
}
