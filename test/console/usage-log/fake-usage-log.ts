import type { Page } from 'playwright-core'
import { parseOtherField } from '#console/api/usage-log-queries.ts'
import type { LogEntry } from '#read-api/contract/logs.ts'
import { perTokenPrice } from '#test/support/per-token-price.ts'
import { ROOT_USER } from '../support/admin-site.ts'
import { type FakeCall, type FakeRoutes, ok, STATUS } from '../support/fake-site.ts'

const PRICE = {
  ...perTokenPrice({ model: '1.25', completion: '4', cacheRead: '0.5', cacheWrite: '1.25' }),
  list: '7',
}

/**
 * A call as the server logs it: 400 input tokens, 600 cached tokens, 500 output tokens, 3375 quota.
 */
export function logRow(id: number, patch: Partial<LogEntry> = {}, other: object = {}): LogEntry {
  const attempts = [
    { channel: 2, status: 503, error: 'status', ms: 420 },
    { channel: 1, status: 200, error: null, ms: 1_380 },
  ]
  return {
    id,
    created_at: Math.floor(Date.now() / 1000) - 60,
    type: 2,
    request_id: `0199aa00-0000-7000-8000-${String(id).padStart(12, '0')}`,
    channel: 1,
    channel_name: 'OpenAI main',
    username: 'root',
    user_id: 1,
    token_name: id % 3 === 0 ? 'batch' : 'production',
    group: 'default',
    model_name: id % 2 === 0 ? 'gpt-4o' : 'gpt-4o-mini',
    use_time: 2,
    is_stream: id % 2 === 0,
    prompt_tokens: 1000,
    completion_tokens: 500,
    quota: 3375,
    content: '',
    client_ip: '203.0.113.7',
    other: JSON.stringify({
      model_ratio: 1.25,
      completion_ratio: 4,
      group_ratio: 1,
      price: PRICE,
      usage: { inputUncached: 400, cacheRead: 600, output: 500 },
      frt: 380,
      duration_ms: 1800,
      usage_source: 'upstream',
      end: 'done',
      failed_channels: [2],
      admin_info: { use_channel: [2, 1], attempts },
      ...other,
    }),
    ...patch,
  }
}

const errorRow = (id: number): LogEntry => {
  const end = { price: undefined, usage: undefined, end: 'no-channel' }
  return logRow(id, { type: 6, quota: 0 }, { ...end, error_code: 'no_channel', status_code: 503 })
}

/** The newest row is first. */
export const manyRows = (count: number): LogEntry[] =>
  Array.from({ length: count }, (_, index) => {
    const id = count - index
    return id % 9 === 4 ? errorRow(id) : logRow(id)
  })

/** The routes that the usage log uses, on a server with these `rows`. */
export function logRoutes(rows: () => readonly LogEntry[]): FakeRoutes {
  const matching = ({ query }: FakeCall): LogEntry[] =>
    rows().filter(
      (row) =>
        [null, row.model_name].includes(query.get('model_name')) &&
        [null, row.token_name].includes(query.get('token_name')) &&
        [null, String(row.type)].includes(query.get('type')) &&
        (query.get('failed_channel') === null ||
          parseOtherField(row).failed_channels?.includes(Number(query.get('failed_channel'))) ===
            true),
    )
  const list = (call: FakeCall) => {
    const [page, size] = [Number(call.query.get('p')), Number(call.query.get('page_size'))]
    const found = matching(call)
    const items = found.slice(page * size, (page + 1) * size)
    return ok({ items, page, total: found.length })
  }
  const stat = (call: FakeCall) => {
    const found = matching(call)
    const sum = (read: (row: LogEntry) => number) =>
      found.reduce((total, row) => total + read(row), 0)
    return ok({
      quota: sum(({ quota }) => quota),
      rpm: 12,
      tpm: 18_000,
      prompt_tokens: sum((row) => row.prompt_tokens),
      completion_tokens: sum((row) => row.completion_tokens),
      count: found.length,
    })
  }
  const byHour = () =>
    ok(
      rows()
        .filter(({ type }) => type === 2)
        .map((row) => ({
          created_at: row.created_at - (row.created_at % 3600),
          model_name: row.model_name,
          count: 1,
          quota: row.quota,
          token_used: row.prompt_tokens + row.completion_tokens,
        })),
    )
  const file = (call: FakeCall) => {
    const lines = matching(call).map((row) => `${row.id},${row.quota}\r\n`)
    return { headers: { 'content-type': 'text/csv' }, body: `id,quota\r\n${lines.join('')}` }
  }
  return {
    'GET /api/log/export': file,
    'GET /api/data/': byHour,
    'GET /api/data/self/': byHour,
    'GET /api/status': () => ok(STATUS),
    'GET /api/log/': list,
    'GET /api/log/self/': list,
    'GET /api/log/stat': stat,
    'GET /api/log/self/stat': stat,
    'GET /api/user/models': () => ok(['gpt-4o', 'gpt-4o-mini']),
    'GET /api/group/': () => ok(['default', 'vip']),
    'GET /api/user/self/groups': () => ok({ default: { desc: 'Default', ratio: 1, color: '' } }),
    'GET /api/token/': () => ok({ items: [], page: 0, total: 0 }),
    'GET /api/channel/': () => ok({ items: [], page: 0, total: 0 }),
  }
}

/** Opens an address as a user who is logged in and has chosen a language. */
export async function enter(
  page: Page,
  site: string,
  look: { language: string },
  user: object = ROOT_USER,
): Promise<void> {
  const kept = { user: JSON.stringify(user), language: look.language }
  await page.addInitScript((stored) => {
    localStorage.setItem('user', stored.user)
    localStorage.setItem('i18nextLng', stored.language)
  }, kept)
  await page.goto(site)
}
