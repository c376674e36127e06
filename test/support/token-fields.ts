import { cellsOfFields } from '#projections/resource-field-columns.ts'
import { TOKEN_COLUMNS } from '#projections/tokens/query.ts'
import { initialValues, responseOf } from '#read-api/contract/resource-field-definition.ts'
import { TOKEN_TERMS } from '#read-api/contract/token-fields.ts'

/**
 * The fields that an owner can set, of a new token without restrictions, as the API returns them.
 */
export const OPEN_TOKEN_TERMS = {
  ...responseOf(TOKEN_TERMS, { ...initialValues(TOKEN_TERMS), allowIps: '' }),
  unlimited_quota: false,
  expired_time: -1,
  rate_limit_enabled: false,
  rate_limit_period: 60,
  rate_limit_count: 1000,
  rate_limit_success: 10,
  rate_limit_tpm: 0,
  max_concurrency: 0,
  model_limits_enabled: false,
  model_limits: '',
  allow_ips: '',
  group: '',
} as const

/** The same with the field that requests cannot set. */
export const OPEN_TOKEN_FIELDS = { ...OPEN_TOKEN_TERMS, budget_version: 0 } as const

const cells = Object.entries(cellsOfFields(TOKEN_TERMS, initialValues(TOKEN_TERMS), TOKEN_COLUMNS))

/** The columns of `read_tokens.tokens` for these fields, and their values as SQL literals. */
export const OPEN_TOKEN_COLUMNS = cells.map(([column]) => column).join(', ')
export const OPEN_TOKEN_LITERALS = cells
  .map(([, value]) => (typeof value === 'string' ? `'${value}'` : String(value)))
  .join(', ')
