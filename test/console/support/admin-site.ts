import type { Page } from 'playwright-core'
import type { Channel } from '#read-api/contract/channel.ts'
import type { Token } from '#read-api/contract/token.ts'
import { type FakeRoutes, type FakeSite, ok, STATUS, startFakeSite } from './fake-site.ts'

const NOW = Math.floor(Date.now() / 1000)

export const token = (patch: Partial<Token>): Token => ({
  id: 1,
  user_id: 1,
  name: 'production',
  key: `Xk9${'q'.repeat(40)}7Hd2`,
  status: 1,
  remain_quota: 4_321_000,
  used_quota: 679_000,
  unlimited_quota: false,
  expired_time: -1,
  created_time: NOW - 864_000,
  accessed_time: NOW - 42,
  rate_limit_enabled: false,
  rate_limit_period: 60,
  rate_limit_count: 1000,
  rate_limit_success: 10,
  model_limits_enabled: false,
  model_limits: '',
  allow_ips: '',
  group: '',
  ...patch,
})

export const channel = (patch: Partial<Channel>): Channel => ({
  id: 1,
  name: 'OpenAI main',
  type: 1,
  key: '',
  openai_organization: '',
  max_input_tokens: 0,
  base_url: 'https://api.openai.com',
  other: '',
  model_mapping: '',
  status_code_mapping: '',
  models: 'gpt-4o,gpt-4o-mini,o3',
  auto_ban: 1,
  test_model: '',
  group: 'default,vip',
  priority: 10,
  weight: 5,
  tag: 'primary',
  model_prefix: '',
  setting: '',
  param_override: '',
  status: 1,
  response_time: 740,
  balance: 0,
  used_quota: 91_234_000,
  expired_time: -1,
  other_info: '',
  test_time: NOW - 600,
  balance_updated_time: 0,
  created_time: NOW - 8_640_000,
  ...patch,
})

const TOKENS = [
  token({}),
  token({
    id: 2,
    name: 'mobile app',
    remain_quota: 12_000,
    used_quota: 488_000,
    model_limits_enabled: true,
    model_limits: 'gpt-4o-mini,o3',
    group: 'vip',
    expired_time: NOW + 86_400 * 3,
  }),
  token({ id: 3, name: 'batch jobs', unlimited_quota: true, accessed_time: 0 }),
  token({ id: 4, name: 'old laptop', status: 2, accessed_time: NOW - 9_000_000 }),
  token({ id: 5, name: 'trial', status: 3, expired_time: NOW - 7_200 }),
  token({ id: 6, name: 'demo', status: 4, remain_quota: 0, used_quota: 500_000 }),
]

const CHANNELS = [
  channel({}),
  channel({
    id: 2,
    name: 'DeepSeek',
    type: 43,
    base_url: 'https://api.deepseek.com',
    models: 'deepseek-chat,deepseek-reasoner',
    group: 'default',
    response_time: 2_600,
    priority: 0,
  }),
  channel({
    id: 3,
    name: 'Backup',
    type: 20,
    status: 3,
    response_time: 8_120,
    used_quota: 42,
    other_info: JSON.stringify({ status_reason: '401 invalid key', status_time: NOW - 300 }),
  }),
  channel({ id: 4, name: 'Local', type: 8, status: 2, response_time: 0, models: 'llama-3' }),
]

export const OPTIONS: Readonly<Record<string, string>> = {
  ModelRatio: '{"gpt-4o":1.25,"gpt-4o-mini":0.075,"deepseek-chat":0.14,"o3":1}',
  CompletionRatio: '{"gpt-4o":4,"gpt-4o-mini":4,"deepseek-chat":1.5}',
  CacheRatio: '{"gpt-4o":0.5}',
  ModelPrice: '{"dall-e-3":0.04}',
  GroupRatio: '{"default":1,"vip":0.8}',
  UserUsableGroups: '{"default":"Default","vip":"VIP"}',
  fallback_pricing_enabled: 'false',
  fallback_single_price: '',
  fallback_input_ratio: '',
  fallback_completion_ratio: '',
  QuotaForNewUser: '0',
  PreConsumedQuota: '500',
  QuotaPerUnit: '500000',
  DisplayInCurrencyEnabled: 'true',
  ModelRequestRateLimitEnabled: 'false',
  ModelRequestRateLimitDurationMinutes: '1',
  ModelRequestRateLimitCount: '0',
  ModelRequestRateLimitSuccessCount: '1000',
  ModelRequestRateLimitTokensPerMinute: '0',
  RetryTimes: '0',
  SystemName: 'Tallygate',
  ServerAddress: '',
}

const USER = {
  id: 1,
  username: 'root',
  display_name: 'Root',
  role: 100,
  status: 1,
  group: 'default',
}

const page = <Row>(items: readonly Row[]) => ok({ items, page: 0, total: items.length })

const READS: FakeRoutes = {
  'GET /api/status': () => ok({ ...STATUS, setup: true }),
  'GET /api/setup': () => ok({ status: true, root_init: true, database_type: 'postgres' }),
  'GET /api/user/self': () => ok({ ...USER, quota: 50_000_000, used_quota: 0 }),
  'GET /api/user/self/groups': () =>
    ok({ default: { desc: 'Default', ratio: 1 }, vip: { desc: 'VIP', ratio: 0.8 } }),
  'GET /api/user/models': () => ok(['gpt-4o', 'gpt-4o-mini', 'o3']),
  'GET /api/group/': () => ok(['default', 'vip']),
  'GET /api/channel/models': () => ok([{ id: 'gpt-4o' }, { id: 'o3' }, { id: 'gpt-4.1' }]),
  'GET /api/channel/models_enabled': () => ok(['gpt-4o', 'deepseek-chat', 'deepseek-reasoner']),
}

/** The built console with an API that keeps tokens, channels and options in memory. */
export async function startAdminSite(): Promise<FakeSite> {
  const tokens = [...TOKENS]
  const channels = [...CHANNELS]
  const options = { ...OPTIONS }
  return startFakeSite({
    ...READS,
    'GET /api/token/': () => page(tokens),
    'GET /api/token/search': ({ query }) =>
      page(tokens.filter(({ name }) => name.includes(query.get('keyword') ?? ''))),
    'POST /api/token/': ({ body }) => {
      const made = token({ ...(body as Partial<Token>), id: tokens.length + 1, used_quota: 0 })
      tokens.unshift(made)
      return ok(made)
    },
    'PUT /api/token/': ({ body }) => {
      const change = body as Partial<Token>
      const index = tokens.findIndex(({ id }) => id === change.id)
      tokens[index] = { ...tokens[index], ...change } as Token
      return ok(tokens[index])
    },
    'GET /api/channel/': () => page(channels),
    'GET /api/channel/search': ({ query }) =>
      page(channels.filter(({ name }) => name.includes(query.get('keyword') ?? ''))),
    'POST /api/channel/': ({ body }) => {
      channels.unshift(channel({ ...(body as Partial<Channel>), id: channels.length + 1, key: '' }))
      return ok(null)
    },
    'PUT /api/channel/': ({ body }) => {
      const change = body as Partial<Channel>
      const index = channels.findIndex(({ id }) => id === change.id)
      channels[index] = { ...channels[index], ...change } as Channel
      return ok(null)
    },
    'GET /api/option/': () => ok(Object.entries(options).map(([key, value]) => ({ key, value }))),
    'PUT /api/option/': ({ body }) => {
      const { key, value } = body as { key: string; value: string }
      options[key] = value
      return ok(null)
    },
  })
}

/** Opens a path of the console as the super admin, logged in already. */
export async function openAsRoot(opened: Page, site: FakeSite, path: string): Promise<void> {
  await opened.addInitScript((user) => localStorage.setItem('user', user), JSON.stringify(USER))
  await opened.goto(site.url + path)
  await opened.getByRole('heading', { level: 1 }).waitFor()
}
