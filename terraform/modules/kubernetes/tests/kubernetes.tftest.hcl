variables {
  name              = "gregor"
  kms_key_arn       = "arn:aws:kms:us-east-1:123456789012:key/11111111-2222-3333-4444-555555555555"
  subnets           = { us-east-1a = "subnet-0123456789abcdef0", us-east-1b = "subnet-0123456789abcdef1" }
  security_group_id = "sg-0123456789abcdef0"
  policy            = "{\"Version\": \"2012-10-17\", \"Statement\": []}"
}

run "closed_and_encrypted" {
  assert {
    condition     = aws_eks_cluster.this.vpc_config[0].endpoint_private_access && !aws_eks_cluster.this.vpc_config[0].endpoint_public_access
    error_message = "The API is reached from the VPC alone."
  }

  assert {
    condition     = aws_eks_cluster.this.encryption_config[0].provider[0].key_arn == var.kms_key_arn
    error_message = "Secrets are encrypted with the crawl's key."
  }

  assert {
    condition = (
      aws_launch_template.node.metadata_options[0].http_tokens == "required" &&
      aws_launch_template.node.metadata_options[0].http_put_response_hop_limit == 1 &&
      tobool(aws_launch_template.node.block_device_mappings[0].ebs[0].encrypted)
    )
    error_message = "IMDSv2 only and out of the pods' reach, encrypted disks."
  }

  assert {
    condition     = contains(aws_launch_template.node.vpc_security_group_ids, var.security_group_id)
    error_message = "The servers let the nodes in."
  }
}

run "a_worker_is_known_by_its_service_account" {
  assert {
    condition = toset(one([
      for test in values(jsondecode(aws_iam_role.worker.assume_role_policy).Statement[0].Condition) :
      one([for variable, accounts in test : accounts if endswith(variable, ":sub")])
    ])) == toset(["system:serviceaccount:crawl:crawl-gregor", "system:serviceaccount:crawl:crawl-gregor-init"])
    error_message = "No other account may take the role."
  }
}

run "nodes_hold_the_workers" {
  variables {
    workers       = 20
    index_workers = 2
    api_cidrs     = ["192.0.2.0/24"]
  }

  assert {
    condition     = aws_eks_node_group.this.scaling_config[0].desired_size == 8
    error_message = "Three workers a node."
  }

  assert {
    condition     = aws_eks_cluster.this.vpc_config[0].public_access_cidrs == toset(["192.0.2.0/24"])
    error_message = "From outside, the API is reached from there alone."
  }
}

run "wrong_values" {
  command = plan

  variables {
    subnets            = { us-east-1a = "subnet-0123456789abcdef0" }
    kubernetes_version = "latest"
    api_cidrs          = ["0.0.0.0/0"]
    instance_type      = "t3.large"
    workers            = 0
    index_workers      = 1.5
    namespace          = "Crawl"
    release            = "-"
  }

  expect_failures = [
    var.subnets, var.kubernetes_version, var.api_cidrs, var.instance_type, var.workers, var.index_workers, var.namespace,
    var.release,
  ]
}
