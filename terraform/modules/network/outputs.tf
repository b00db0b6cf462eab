output "vpc_id" {
  description = "The VPC."
  value       = aws_vpc.this.id
}

output "cidr" {
  description = "Its addresses."
  value       = aws_vpc.this.cidr_block
}

output "subnets" {
  description = "Private subnets by zone."
  value       = { for zone, subnet in aws_subnet.private : zone => subnet.id }
}

output "zone_id" {
  description = "The private DNS zone."
  value       = aws_route53_zone.this.zone_id
}

output "zone_arn" {
  description = "Its ARN."
  value       = aws_route53_zone.this.arn
}

output "domain" {
  description = "Its name."
  value       = aws_route53_zone.this.name
}
