import { expect, it } from 'vitest'
import { bedrockModelId } from '#relay/providers/clouds/bedrock-model-id.ts'

it.each([
  ['claude-sonnet-4-5-20250929', 'us-east-1', 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'],
  ['claude-sonnet-4-5', 'eu-west-3', 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0'],
  ['claude-sonnet-4-5', 'ap-northeast-1', 'jp.anthropic.claude-sonnet-4-5-20250929-v1:0'],
  ['claude-sonnet-4-5', 'us-gov-west-1', 'us-gov.anthropic.claude-sonnet-4-5-20250929-v1:0'],
  ['claude-sonnet-4-5', 'sa-east-1', 'global.anthropic.claude-sonnet-4-5-20250929-v1:0'],
  ['claude-sonnet-4-20250514', 'ap-south-1', 'apac.anthropic.claude-sonnet-4-20250514-v1:0'],
  ['claude-opus-4-1', 'eu-west-1', 'anthropic.claude-opus-4-1-20250805-v1:0'],
  ['claude-opus-4-6', 'ca-central-1', 'us.anthropic.claude-opus-4-6-v1'],
  ['claude-sonnet-4-6', 'ap-southeast-2', 'au.anthropic.claude-sonnet-4-6'],
  ['claude-opus-4-8', 'ap-southeast-4', 'au.anthropic.claude-opus-4-8'],
  ['claude-opus-5', 'ap-northeast-1', 'global.anthropic.claude-opus-5'],
  ['claude-sonnet-5-5', 'us-west-2', 'us.anthropic.claude-sonnet-5-5'],
])('%s in %s is %s', (name, region, id) => {
  expect(bedrockModelId(name, region)).toBe(id)
})

it.each([
  'anthropic.claude-3-haiku-20240307-v1:0',
  'global.anthropic.claude-opus-4-8',
  'arn:aws:bedrock:eu-west-1:123456789012:application-inference-profile/abc',
])('the id %s of a mapping is unchanged', (id) => {
  expect(bedrockModelId(id, 'us-east-1')).toBe(id)
})
