import type { PresetRatios, PriceChange, ScheduledChange } from '#read-api/contract/options.ts'
import type { PricePreview, SchedulePrices } from '#write-api/contract/options.ts'
import { type FakeSite, ok } from '../support/fake-site.ts'

const NOW = Math.floor(Date.now() / 1_000)

const change = (patch: Partial<PriceChange>): PriceChange => ({
  time: NOW - 3_600,
  user_id: 1,
  username: 'root',
  planned_id: 0,
  option: 'ModelRatio',
  model: 'gpt-4o',
  group: '',
  user_group: '',
  before: '1',
  after: '1.25',
  ...patch,
})

const HISTORY = [
  change({}),
  change({ option: 'GroupRatio', model: '', group: 'vip', before: '1', after: '0.8' }),
  change({
    option: 'GroupGroupRatio',
    model: '',
    group: 'default',
    user_group: 'vip',
    before: null,
    after: '0.9',
  }),
  change({ planned_id: 1, model: 'o3', before: '5', after: '1', time: NOW - 90_000 }),
]

export const PRESET: PresetRatios = {
  source: 'flexible',
  origin: 'shipped',
  as_of: '2026-11-27',
  older: { as_of: '2025-10', models: ['o3'] },
  price_source: 'OpenAI, Anthropic',
  is_fetch_failed: false,
  prompt: { 'gpt-4o': '1.25', 'gpt-5': '0.625', o3: '7' },
  completion: { 'gpt-4o': '4', 'gpt-5': '8', o3: '4' },
  max_output: { 'gpt-4o': '16384', 'gpt-5': '128000', o3: '50000' },
}

const figures = (calls: number, charged: number, drafted: number, refused = 0) => ({
  calls,
  charged,
  drafted,
  refused,
})

const PREVIEW: PricePreview = {
  ...figures(1_284, 4_812_345, 5_512_345, 3),
  start_timestamp: NOW - 7 * 86_400,
  end_timestamp: NOW,
  is_complete: true,
  models: [
    { model: 'gpt-4o', ...figures(900, 4_000_000, 4_700_000) },
    { model: 'accounts/acme/models/a-model-with-quite-a-long-name', ...figures(3, 12_345, 0, 3) },
    { model: 'o3', ...figures(381, 800_000, 812_345) },
  ],
  users: [
    { user_id: 1, username: 'root', ...figures(1_000, 4_500_000, 5_200_000) },
    { user_id: 7, username: 'alice', ...figures(284, 312_345, 312_345) },
  ],
}

/** Adds the routes of the price screens. Schedules are kept in memory. */
export function withPrices(site: FakeSite): void {
  const planned: ScheduledChange[] = [
    {
      id: 1,
      at: NOW - 86_400,
      created_time: NOW - 200_000,
      username: 'root',
      status: 'applied',
      ended_time: NOW - 86_400,
      fault: '',
      changes: [{ option: 'ModelRatio', name: 'o3', value: '1' }],
    },
  ]
  Object.assign(site.routes, {
    'GET /api/option/price_history': ({ query }: { query: URLSearchParams }) => {
      const model = query.get('model') ?? ''
      const keyword = query.get('keyword') ?? ''
      const items = HISTORY.filter(
        (row) => (model === '' || row.model === model) && row.model.includes(keyword),
      )
      return ok({ items, page: 0, total: items.length })
    },
    'GET /api/option/preset_ratios': ({ query }: { query: URLSearchParams }) => {
      const source = query.get('source') ?? ''
      return ok(source === 'legacy' ? { ...PRESET, source, prompt: {} } : { ...PRESET, source })
    },
    'GET /api/option/price_schedule': () => ok({ items: planned, page: 0, total: planned.length }),
    'POST /api/option/price_schedule': ({ body }: { body: unknown }) => {
      const { at, changes, replaces } = body as SchedulePrices
      const id = planned.length + 1
      const replaced = planned.findIndex((one) => one.id === replaces)
      const [old] = replaced < 0 ? [] : planned.splice(replaced, 1)
      if (old !== undefined) planned.push({ ...old, status: 'cancelled' })
      const made = { id, at, changes, created_time: NOW, username: 'root', fault: '' }
      planned.unshift({ ...made, status: 'planned', ended_time: 0 })
      return ok({ id })
    },
    'DELETE /api/option/price_schedule/3': () => {
      const [first] = planned
      if (first !== undefined) planned[0] = { ...first, status: 'cancelled' }
      return ok(null)
    },
    'POST /api/option/price_preview': () => ok(PREVIEW),
    'POST /api/option/rest_model_ratio': () => ok(null),
  })
}
