import type { Correction } from '#read-api/contract/corrections.ts'
import type { MarginItem, Margins } from '#read-api/contract/margins.ts'
import type {
  ProviderInvoiceComparison,
  ProviderInvoiceItem,
  ProviderInvoiceRequest,
} from '#read-api/contract/provider-invoices.ts'
import type {
  CorrectionPreview,
  Recomputation,
  Repricing,
} from '#write-api/contract/repricing-and-corrections.ts'
import { NOW } from './audit-samples.ts'

const requestId = (number: number): string =>
  `0191aa00-1b2c-7000-8000-${String(100_000_000_000 + number)}`

export const RECOMPUTATION: Recomputation = {
  ...{ calls: 18_204, charged: 61_250_000, recomputed: 61_250_000, skipped: 12 },
  ...{ different: 0, differences: [], next_cursor: null },
}

export const DIFFERENT: Recomputation = {
  ...{ ...RECOMPUTATION, charged: 61_250_340, different: 2 },
  differences: [1, 2].map((number) => ({
    ...{ request_id: requestId(number), position: 8_000 + number, user_id: 7, model: 'gpt-4o' },
    ...{ charged: 3_545, recomputed: 3_375 },
  })),
}

const figures = (calls: number, charged: number, drafted: number, refused = 0) => ({
  ...{ calls, charged, drafted, refused },
})

export const REPRICING: Repricing = {
  ...figures(18_204, 61_250_000, 74_812_500, 31),
  models: [
    { model: 'gpt-4o', ...figures(9_120, 31_250_000, 46_875_000) },
    { model: 'claude-sonnet-4-5', ...figures(6_013, 24_937_500, 24_937_500) },
    { model: 'o3', ...figures(3_071, 5_062_500, 3_000_000, 31) },
  ],
  groups: [
    { group: 'default', ...figures(15_000, 50_000_000, 61_000_000, 31) },
    { group: 'vip', ...figures(3_204, 11_250_000, 13_812_500) },
  ],
  users: [
    { user_id: 7, ...figures(11_200, 42_000_000, 55_300_000) },
    { user_id: 9, ...figures(7_004, 19_250_000, 19_512_500, 31) },
  ],
  largest: Array.from({ length: 6 }, (_, index) => ({
    ...{ request_id: requestId(index), position: 9_000 - index, user_id: 7, model: 'gpt-4o' },
    ...{ charged: 33_750 - index * 250, drafted: 50_625 - index * 375 },
  })),
  next_cursor: null,
}

export const PREVIEW: CorrectionPreview = {
  ...{ preview: 'preview-text', id: '5f0c9a1b2c3d4e5f60718293a4b5c6d7', calls: 9_120 },
  ...{ accounts: 2, refunded: 15_625_000, charged: 0, unpaid: 0, skipped: 3 },
  users: [
    { user_id: 7, calls: 6_100, amount: -11_000_000, unpaid: 0 },
    { user_id: 9, calls: 3_020, amount: -4_625_000, unpaid: 0 },
  ],
  largest: Array.from({ length: 5 }, (_, index) => ({
    ...{ request_id: requestId(index), user_id: index % 2 === 0 ? 7 : 9 },
    ...{ charged: 33_750 - index * 250, corrected: 16_875 - index * 125 },
  })),
  skipped_calls: [
    { request_id: requestId(50), user_id: 7, reason: 'batch' },
    { request_id: requestId(51), user_id: 7, reason: 'batch' },
    { request_id: requestId(52), user_id: 9, reason: 'other-kind-of-price' },
  ],
}

export const correction = (id: string, patch: Partial<Correction> = {}): Correction => ({
  ...{ id: id.padEnd(32, '0'), model: 'gpt-4o', group: null, from: NOW - 90_000, to: NOW - 3_600 },
  ...{ price: { model: '1.25', completion: '4' }, calls: 9_120, accounts: 2 },
  applied: { calls: 9_120, refunded: 15_625_000, charged: 0, unpaid: 0 },
  ...{ refunded: 15_625_000, charged: 0, reason: 'The ratio was entered twice too high' },
  ...{
    requested_by: 1,
    requested_by_name: 'root',
    started_at: NOW - 3_000,
    finished_at: NOW - 2_990,
    preview: null,
  },
  failed: [],
  ...patch,
})

export const INTERRUPTED = correction('c2', {
  ...{ model: 'dall-e-3', group: 'vip', price: { price: '0.04' }, calls: 310, accounts: 41 },
  ...{ refunded: 0, charged: 1_240_000, reason: 'The price per image was missing' },
  ...{ started_at: NOW - 120, finished_at: null, preview: 'preview-of-c2' },
  applied: { calls: 120, refunded: 0, charged: 400_000, unpaid: 80_000 },
})

export const INVOICE_ID = '0f8fad5b-d9cb-469f-a165-70867728950e'

const SUMMARY = {
  ...{ id: INVOICE_ID, channel_id: 1, channel_name: 'OpenAI main' },
  ...{ digest: 'ab12'.repeat(16), bytes: 812_400, rows: 9_131 },
  ...{ duplicates: 4, currency: 'CNY', dollars: '0.14', first_day: '2026-11-01' },
  ...{
    last_day: '2026-11-27',
    billed: 21_400_000,
    is_out_of_range: false,
    imported_at: NOW - 7_200,
  },
  ...{ corrections: 3, corrections_billed: -450_000 },
}
export const INVOICES = [
  SUMMARY,
  {
    ...{ ...SUMMARY, id: '7c9e6679-7425-40de-944b-e07fc1f90ae7', channel_id: 2, rows: 120 },
    channel_name: '',
    ...{ currency: 'USD', dollars: '1', duplicates: 0, billed: 1_900_000 },
  },
]

const amountOf = (quota: number): string => String(quota / 100_000)

const item = (
  day: number,
  model: string,
  comparison: ProviderInvoiceItem['comparison'],
  [billed, cost, charged]: readonly [number, number, number],
): ProviderInvoiceItem => ({
  ...{ day: `2026-11-${String(day).padStart(2, '0')}`, model, comparison },
  ...{ rows: billed === 0 ? 0 : 340, billed_tokens: billed === 0 ? 0 : 1_204_551, billed },
  amount: amountOf(billed),
  ...{ calls: cost === 0 ? 0 : 338, tokens: cost === 0 ? 0 : 1_203_900, cost, charged },
  margin: charged - billed,
})

const ITEMS: readonly ProviderInvoiceItem[] = [
  item(26, 'gpt-4o', 'matched', [780_000, 781_200, 1_250_000]),
  item(26, 'o3', 'different', [512_000, 410_000, 640_000]),
  item(25, 'gpt-4o-audio-preview', 'only_theirs', [96_000, 0, 0]),
  item(25, 'gpt-4o-mini', 'only_ours', [0, 12_400, 20_000]),
]

const sums = (items: readonly ProviderInvoiceItem[]) => {
  const sum = (name: 'rows' | 'billed_tokens' | 'billed' | 'calls' | 'tokens' | 'cost') =>
    items.reduce((total, one) => total + one[name], 0)
  const charged = items.reduce((total, one) => total + one.charged, 0)
  return {
    ...{ rows: sum('rows'), billed_tokens: sum('billed_tokens'), billed: sum('billed') },
    amount: amountOf(sum('billed')),
    ...{ calls: sum('calls'), tokens: sum('tokens'), cost: sum('cost'), charged },
    margin: charged - sum('billed'),
  }
}

export const providerInvoiceOf = (comparison: string | null): ProviderInvoiceComparison => ({
  ...{ ...SUMMARY, channel_name: 'OpenAI main' },
  requests: {
    counts: { matched: 9_000, different: 2, failed: 1, unknown: 120, duplicate: 4, only_ours: 3 },
    ...{ ...sums(ITEMS), rows: 9_003, known_ids: 3, duplicates_billed: 1_200 },
  },
  counts: { matched: 1, different: 1, only_ours: 1, only_theirs: 1 },
  total: sums(ITEMS),
  models: ITEMS.map((one) => ({ model: one.model, ...sums([one]) })),
  items: ITEMS.filter((one) => comparison === null || one.comparison === comparison),
  next_cursor: null,
})

const invoiceRequest = (
  row: number,
  patch: Partial<ProviderInvoiceRequest>,
): ProviderInvoiceRequest => ({
  ...{
    row,
    rows: 1,
    match: 'different',
    upstream_id: `chatcmpl-B9MHDbslfkBeAs8l4bebGdFOJ6Pe${row}`,
  },
  ...{ day: '2026-11-26', model: 'gpt-4o', amount: '0.0123', billed: 6_150, billed_tokens: 1_300 },
  call: {
    ...{ request_id: requestId(row), user_id: 7, ended_at: NOW - 90_000, model: 'gpt-4o' },
    ...{ tokens: 1_204, cost: 5_700, charged: 9_120 },
  },
  difference: 450,
  ...patch,
})

/** The lines with ids, of one kind of match. */
/** The accounts of the users in the samples. The user 7 has been erased. */
export const ACCOUNT_NAMES = [
  { user_id: 9, username: 'mei', total: 5, balance: 5, held: 0 },
  { user_id: 7, username: '', total: 0, balance: 0, held: 0 },
]

export const providerInvoiceRequestsOf = (
  match: string | null,
): readonly ProviderInvoiceRequest[] =>
  match === 'unknown'
    ? [invoiceRequest(31, { match: 'unknown', call: null, difference: null })]
    : [invoiceRequest(12, {}), invoiceRequest(18, { billed: 3_000, difference: -2_700 })]

const margin = (
  channel: readonly [id: number, name: string],
  model: string,
  patch: Partial<MarginItem> & Pick<MarginItem, 'charged'>,
): MarginItem => {
  const item = { calls: 9_120, invoiced: 0, billed: 0, expected: 0, uncosted: 0, ...patch }
  const cost = item.uncosted + item.billed + item.expected
  return {
    channel_id: channel[0],
    channel_name: channel[1],
    model,
    ...item,
    margin: item.charged - cost,
  }
}

const MARGIN_ITEMS: readonly MarginItem[] = [
  margin([1, 'OpenAI main'], 'gpt-4o', {
    charged: 31_250_000,
    invoiced: 31_250_000,
    billed: 19_400_000,
  }),
  margin([2, 'OpenAI backup'], 'gpt-4o', {
    charged: 12_500_000,
    expected: 8_125_340,
    calls: 3_071,
  }),
  margin([1, 'OpenAI main'], 'o3', {
    charged: 5_062_500,
    invoiced: 4_000_000,
    billed: 4_412_000,
    expected: 640_000,
  }),
  margin([3, 'Claude'], 'claude-sonnet-4-5', { charged: 2_493_750, uncosted: 2_493_750 }),
  margin([1, 'OpenAI main'], 'gpt-4o-audio-preview', { charged: 0, calls: 0, billed: 96_000 }),
]

/** The margins of five pairs of channel and model, or of none. */
export const marginsOf = (
  days: { readonly first: string; readonly last: string },
  items: readonly MarginItem[] = MARGIN_ITEMS,
): Margins => {
  const sum = (name: keyof Margins['total']) => items.reduce((all, one) => all + one[name], 0)
  return {
    ...{ first_day: days.first, last_day: days.last, out_of_range_channels: [] },
    total: {
      ...{ calls: sum('calls'), charged: sum('charged'), invoiced: sum('invoiced') },
      ...{ billed: sum('billed'), expected: sum('expected'), uncosted: sum('uncosted') },
      margin: sum('margin'),
    },
    ...{ overlapping_channels: items.length === 0 ? [] : [1], items: [...items] },
    next_cursor: null,
  }
}
