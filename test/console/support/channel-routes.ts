import type { ChannelType } from '#read-api/contract/channel-type-schema.ts'
import type { Channel, ChannelEntry, TagGroup } from '#read-api/contract/channels.ts'
import { type FakeCall, type FakeRoutes, ok, refused } from './fake-site.ts'

const NOW = Math.floor(Date.now() / 1000)

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
  test_failure: '',
  balance_updated_time: 0,
  created_time: NOW - 8_640_000,
  max_concurrency: 0,
  max_rpm: 0,
  cost_ratio: null,
  multi_key_mode: '',
  key_count: 1,
  keys_set_aside: [],
  ...patch,
})

const CHANNELS: readonly Channel[] = [
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
    balance: 41.5,
    balance_updated_time: NOW - 3_600,
  }),
  channel({
    id: 3,
    name: 'Backup',
    type: 20,
    status: 3,
    response_time: 8_120,
    used_quota: 42,
    tag: '',
    multi_key_mode: 'polling',
    key_count: 5,
    keys_set_aside: [
      { index: 1, reason: 'status-401', time: NOW - 300 },
      { index: 3, reason: 'insufficient_quota', time: NOW - 7_200 },
    ],
    other_info: JSON.stringify({ status_reason: 'status-401', status_time: NOW - 300 }),
  }),
  channel({
    id: 4,
    name: 'Local',
    type: 8,
    status: 2,
    response_time: 0,
    models: 'llama-3',
    tag: '',
  }),
]

const words = (en: string) => ({ zh: `${en} (zh)`, en })

const type = (patch: Partial<ChannelType>): ChannelType => ({
  id: 1,
  name: 'OpenAI',
  base_url: 'https://api.openai.com',
  bases: [],
  chat_path: '/v1/chat/completions',
  fields: [],
  key_hint: words('The key of your account at the provider'),
  has_balance: false,
  can_list_models: true,
  models: ['gpt-4o', 'gpt-4o-mini', 'o3'],
  ...patch,
})

export const TYPES: readonly ChannelType[] = [
  type({
    has_balance: true,
    fields: [
      {
        key: 'openai_organization',
        kind: 'text',
        label: words('Organization ID'),
        hint: words('May be empty'),
        default: '',
        is_required: false,
      },
    ],
  }),
  type({
    id: 3,
    name: 'Azure OpenAI',
    base_url: '',
    chat_path: '/openai/deployments/{model}/chat/completions?api-version={other}',
    can_list_models: false,
    fields: [
      {
        key: 'other',
        kind: 'text',
        label: words('API version'),
        hint: words('For example 2024-10-21'),
        default: '2024-10-21',
        is_required: true,
      },
    ],
  }),
  type({ id: 8, name: 'Custom', base_url: '', models: [] }),
  type({ id: 20, name: 'OpenRouter', base_url: 'https://openrouter.ai/api', has_balance: true }),
  type({ id: 43, name: 'DeepSeek', base_url: 'https://api.deepseek.com', has_balance: true }),
]

export function byTag(channels: readonly Channel[]): ChannelEntry[] {
  const tagged = Map.groupBy(channels, ({ tag }) => tag)
  const groups = [...tagged].filter(([tag]) => tag !== '')
  return [...groups.map(([tag, children]) => groupOf(tag, children)), ...(tagged.get('') ?? [])]
}

function groupOf(tag: string, children: Channel[]): TagGroup {
  const same = (values: readonly number[]) =>
    new Set(values).size === 1 ? (values[0] ?? null) : null
  const tested = children.filter(({ response_time }) => response_time > 0)
  const times = tested.reduce((sum, { response_time }) => sum + response_time, 0)
  return {
    tag,
    group: [...new Set(children.flatMap(({ group }) => group.split(',')))].join(','),
    used_quota: children.reduce((sum, { used_quota }) => sum + used_quota, 0),
    response_time: tested.length === 0 ? 0 : Math.round(times / tested.length),
    priority: same(children.map(({ priority }) => priority)),
    weight: same(children.map(({ weight }) => weight)),
    members: children.map(({ id, name, status }) => ({ id, name, status })),
    children: [],
  }
}

/** Routes of the management API with channels in memory. */
export function channelRoutes(first: readonly Channel[] = CHANNELS): FakeRoutes {
  let channels = [...first]
  const ids = ({ body }: FakeCall) => (body as { ids: number[] }).ids
  const change = (isMeant: (row: Channel) => boolean, patch: Partial<Channel>) => {
    channels = channels.map((row) => (isMeant(row) ? { ...row, ...patch } : row))
    return ok(null)
  }
  /** Expired channels are not enabled. */
  const switchTo = (isMeant: (row: Channel) => boolean, status: number) => {
    const isExpired = ({ expired_time: end }: Channel) => end > 0 && end <= NOW
    const changed = channels.filter(
      (row) => isMeant(row) && row.status !== status && !(status === 1 && isExpired(row)),
    )
    change((row) => changed.includes(row), { status })
    return ok(changed.length)
  }
  const list = ({ query }: FakeCall) => {
    const found = channels.filter(
      ({ name, status, tag }) =>
        ['', tag].includes(query.get('tag') ?? '') &&
        name.includes(query.get('keyword') ?? '') &&
        [null, String(status)].includes(query.get('status')),
    )
    const entries = query.get('tag_mode') === 'true' ? byTag(found) : found
    const [page, size] = [Number(query.get('p')), Number(query.get('page_size'))]
    const items = entries.slice(page * size, (page + 1) * size)
    return ok({ items, page, total: entries.length })
  }
  const tagOf = ({ body }: FakeCall) => (body as { tag: string }).tag
  return {
    ...Object.fromEntries(
      first.flatMap(({ id }) => {
        const one = () => channels.find((row) => row.id === id)
        const drop = () => {
          channels = channels.filter((row) => row.id !== id)
          return ok(null)
        }
        return [
          [`GET /api/channel/${id}`, () => ok(one())],
          [`DELETE /api/channel/${id}/`, drop],
          [`POST /api/channel/copy/${id}`, () => ok({ id: 90 + id })],
          [`GET /api/channel/fetch_models/${id}`, () => ok(['gpt-4o', 'gpt-5', 'o3', 'o4-mini'])],
          [`GET /api/channel/update_balance/${id}/`, () => ok({ balance: 7 })],
        ]
      }),
    ),
    'GET /api/channel/types': () => ok(TYPES),
    'GET /api/channel/test/progress': () =>
      ok({ run: '', is_running: false, total: 0, tested: 0, failed: 0 }),
    'GET /api/channel/test/results': () => ok({ run: '', results: [] }),
    'GET /api/channel/models': () => ok([{ id: 'gpt-4o' }, { id: 'o3' }, { id: 'gpt-4.1' }]),
    'GET /api/channel/models_enabled': () => ok(['gpt-4o', 'deepseek-chat', 'deepseek-reasoner']),
    'GET /api/channel/': list,
    'GET /api/channel/search': list,
    'POST /api/channel/': ({ body }) => {
      const id = Math.max(0, ...channels.map((row) => row.id)) + 1
      channels = [channel({ ...(body as Partial<Channel>), id, key: '' }), ...channels]
      return ok({ id, ids: [id] })
    },
    'PUT /api/channel/': ({ body }) => {
      const { id, ...patch } = body as Partial<Channel>
      return change((row) => row.id === id, patch)
    },
    'POST /api/channel/batch': (call) => {
      const gone = new Set(ids(call))
      channels = channels.filter(({ id }) => !gone.has(id))
      return ok(gone.size)
    },
    'DELETE /api/channel/disabled': () => {
      const off = channels.filter(({ status }) => status !== 1).length
      channels = channels.filter(({ status }) => status === 1)
      return ok(off)
    },
    'POST /api/channel/batch/status': (call) => {
      const { status } = call.body as { status: number }
      return switchTo(({ id }) => ids(call).includes(id), status)
    },
    'POST /api/channel/batch/tag': (call) =>
      change(({ id }) => ids(call).includes(id), { tag: tagOf(call) ?? '' }),
    'POST /api/channel/tag/enabled': (call) => switchTo(({ tag }) => tag === tagOf(call), 1),
    'POST /api/channel/tag/disabled': (call) => switchTo(({ tag }) => tag === tagOf(call), 2),
    'PUT /api/channel/tag': () => ok(null),
    'POST /api/channel/fix': () => ok(null),
    'POST /api/channel/fetch_models': () => refused('The provider refused the key'),
  }
}
