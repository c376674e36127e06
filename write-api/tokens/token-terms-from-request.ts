import { isIP } from 'node:net'
import { optionJson } from '#domain/options/option-registry.ts'
import type { SharedTerms } from '#domain/tokens/events.ts'
import type { Core } from '#infra/core-dependencies.ts'
import { invalidField } from '#infra/http/http-error-class-and-catalogue.ts'
import type { Principal } from '#infra/http/principal.ts'
import { allOptions } from '#projections/options/query.ts'
import { initialValues, namesIn } from '#read-api/contract/resource-field-definition.ts'
import { RATE_LIMIT_FIELDS, TOKEN_TERMS } from '#read-api/contract/token-fields.ts'
import type { Deps } from '../action.ts'
import { applyFields } from '../apply-request-fields.ts'
import type { CreateToken, UpdateToken } from '../contract/tokens.ts'
import { tokenError } from './token-errors.ts'
import { checkName } from './token-names.ts'

/**
 * Parses IP addresses and networks, separated by line breaks or commas. Throws if an entry is
 * neither.
 */
function parseAddresses(text: string): readonly string[] {
  const lines: string[] = []
  for (const [index, whole] of text.split(/\r\n|\r|\n/).entries()) {
    for (const part of whole.split(',')) {
      const line = part.trim()
      if (line === '') continue
      if (!isAddressOrNetwork(line)) throw invalidAddress(index + 1, line)
      lines.push(line)
    }
  }
  return lines
}

function invalidAddress(line: number, text: string) {
  const excerpt = [...text].slice(0, 60).join('')
  return invalidField('allow_ips', {
    zh: `第 ${line} 行“${excerpt}”不是合法的 IP 地址或网段`,
    en: `line ${line}, “${excerpt}”, is not an IP address or network`,
  })
}

/**
 * Reports whether the text is an IP address or a network in CIDR notation. NOTE: a zone
 * (`fe80::1%eth0`) is not accepted, because a zone is only meaningful on one machine.
 */
function isAddressOrNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const family = address.includes('%') ? 0 : isIP(address)
  if (family === 0 || rest.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128))
}

const { group, allowIps, ...others } = initialValues(TOKEN_TERMS)

/** The default terms (settings) of a new token, in the order in which events store them. */
export const INITIAL_TERMS: SharedTerms = {
  expiresAt: null,
  group,
  models: null,
  allowIps,
  rateLimit: initialValues(RATE_LIMIT_FIELDS),
  ...others,
}

/** Throws if a requested budget is negative. An existing negative budget is not checked. */
export function checkRemainingQuota(remain: number): void {
  if (remain < 0) throw invalidField('remain_quota', { zh: '不能小于 0', en: 'must be at least 0' })
}

type Fields = CreateToken | UpdateToken

/**
 * Returns the terms (settings) of a token with the fields of a request applied, except the name.
 * Throws if a field is invalid.
 */
export async function applyTokenFields(
  { vault, now }: Pick<Core, 'vault' | 'now'>,
  userId: number,
  before: SharedTerms,
  fields: Fields,
): Promise<SharedTerms> {
  if (fields.group !== undefined) checkName('group', fields.group)
  const body = { ...fields, allow_ips: addressLines(fields.allow_ips) }
  const owner = { vault, userId }
  return {
    ...(await applyFields(TOKEN_TERMS, before, body, owner)),
    expiresAt: expiryOf(fields, before, now()),
    models: modelsOf(fields, before),
    rateLimit: await applyFields(RATE_LIMIT_FIELDS, before.rateLimit, fields, owner),
  }
}

const addressLines = (text: string | null | undefined): string | undefined =>
  text === undefined ? undefined : parseAddresses(text ?? '').join('\n')

function expiryOf({ expired_time: time }: Fields, before: SharedTerms, now: number): number | null {
  if (time === undefined || time === before.expiresAt) return before.expiresAt
  if (time === 0) {
    throw invalidField('expired_time', {
      zh: '必须是 -1（永不过期）或秒级时间戳',
      en: 'must be -1 (never) or a time in Unix seconds',
    })
  }
  if (time !== -1 && time * 1_000 <= now) {
    throw invalidField('expired_time', { zh: '过期时间已过', en: 'is in the past' })
  }
  return time === -1 ? null : time
}

function modelsOf(fields: Fields, before: SharedTerms): readonly string[] | null {
  const isLimited = fields.model_limits_enabled ?? before.models !== null
  if (!isLimited) return null
  const models = namesOf(fields) ?? before.models ?? []
  // An existing token with an empty list of models can still be renamed or disabled.
  if (models.length === 0 && before.models?.length !== 0) {
    throw invalidField('model_limits', {
      zh: '请至少选择一个模型，或者关闭模型限制',
      en: 'select at least one model or turn the limit off',
    })
  }
  return models
}

function namesOf({ model_limits: text }: Fields): readonly string[] | undefined {
  if (text === undefined) return undefined
  const names = namesIn(text)
  for (const name of names) checkName('model_limits', name)
  return names
}

/**
 * Throws if the user may not use the group. Users may use their own group and all groups that are
 * open to every user.
 */
export async function checkUsableGroup(
  { core }: Deps,
  user: Principal,
  group: string,
): Promise<void> {
  if (group === '' || group === user.group) return
  const { values } = await allOptions(core.db)
  const usable = optionJson(values, 'UserUsableGroups') as Readonly<Record<string, unknown>>
  if (!Object.hasOwn(usable, group)) throw tokenError('GroupNotUsable')
}
