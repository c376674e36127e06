import Type, { type Static } from 'typebox'

export const Channel = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  type: Type.Integer(),
  /** Always empty: a provider's key is written, never read. */
  key: Type.String(),
  openai_organization: Type.String(),
  max_input_tokens: Type.Integer(),
  base_url: Type.String(),
  other: Type.String(),
  model_mapping: Type.String(),
  status_code_mapping: Type.String(),
  /** Comma-separated. */
  models: Type.String(),
  auto_ban: Type.Integer(),
  test_model: Type.String(),
  /** Comma-separated. */
  group: Type.String(),
  priority: Type.Integer(),
  weight: Type.Integer(),
  tag: Type.String(),
  model_prefix: Type.String(),
  setting: Type.String(),
  param_override: Type.String(),
  /** 1 enabled, 2 disabled, 3 auto-disabled. */
  status: Type.Integer(),
  /** Milliseconds; 0 untested. */
  response_time: Type.Integer(),
  balance: Type.Number(),
  used_quota: Type.Integer(),
  expired_time: Type.Integer(),
  /** JSON text: `status_reason`, `status_time`. */
  other_info: Type.String(),
  test_time: Type.Integer(),
  balance_updated_time: Type.Integer(),
  created_time: Type.Integer(),
})
export type Channel = Static<typeof Channel>

export const ModelEntry = Type.Object({ id: Type.String() })
export type ModelEntry = Static<typeof ModelEntry>
