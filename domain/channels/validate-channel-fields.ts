import { decimalOf, decimalText, isAbove, parseDecimal } from '../pricing/decimal.ts'
import { COST_RATIO_MAX, isStatusMapping, mappingError } from '../shared/channel-field-rules.ts'
import { badCharacter, isName, isText } from '../shared/check-characters.ts'
import { codedError } from '../shared/coded-error.ts'
import { foldedName, namesByFoldedName } from '../shared/fold-json-member-names.ts'
import {
  isNumber,
  isObject,
  type ParsedJson,
  parseJsonText,
  reservedName,
} from '../shared/lossless-json.ts'
import { proxyAddress } from '../shared/mask-proxy-credentials.ts'
import type { ChannelError } from './commands.ts'
import type { ChannelTerms } from './events.ts'
import { allowableMembers, OUTPUT_LIMITS, READ_MEMBERS } from './restricted-request-members.ts'

export type TermsErrorCode =
  | 'not-json'
  | 'duplicate-key'
  | 'too-deep'
  | 'bad-character'
  | 'name-reserved'
  | 'not-object'
  | 'not-url'
  | 'not-text'
  | 'not-status'
  | 'mapping-circle'
  | 'mapping-too-deep'
  | 'too-long'
  | 'too-many-pairs'
  | 'not-cost-ratio'
  | 'not-proxy'
  | 'not-flag'
  | 'not-names'
  | 'not-allowable'
  | 'no-effect'
  | 'wrong-case'

/**
 * An invalid field of a channel. `field` is the field's name in the API. `name` is the invalid
 * entry, if the field contains several entries.
 */
export type FieldError = {
  readonly field: string
  readonly error: TermsErrorCode
  readonly name?: string
}

/**
 * The names that an admin can enter as the base address instead of a URL. The provider's profile
 * contains the URL for each name.
 */
export const NAMED_BASES: ReadonlySet<string> = new Set([
  'doubao-coding-plan',
  'glm-coding-plan',
  'glm-coding-plan-international',
  'kimi-coding-plan',
])
/**
 * The maximum size of the terms, in bytes of JSON. One event must have room for the terms and the
 * references of 1000 keys.
 */
const TERMS_BYTES_MAX = 400_000
/**
 * The maximum number of pairs of a model and a group of one channel. The relay and the price list
 * build an entry for each pair, and a hundred million entries would exhaust a process's memory.
 */
const PAIRS_MAX = 100_000
const COST_RATIO_MAX_DECIMAL = decimalOf(String(COST_RATIO_MAX))
const COST_RATIO_SCALE_MAX = 6
/**
 * The numbers of the provider types that use the field `other`. For `REGIONAL`, the field contains
 * a region. For `VERSIONED`, an empty field gets a default.
 */
const REGIONAL = 41
const VERSIONED = 18

type Members = Exclude<ReturnType<typeof readObject>, FieldError>

/** Returns the terms in the normalized form in which they are stored. */
export const normalizeTerms = ({
  costRatio = '',
  proxyRef = '',
  ...terms
}: ChannelTerms): ChannelTerms => ({
  ...terms,
  baseUrl: terms.baseUrl.trim().replace(/\/+$/, ''),
  tag: terms.tag.trim(),
  other: terms.type === VERSIONED && terms.other.trim() === '' ? 'v2.1' : terms.other,
  ...(costRatio === '' ? {} : { costRatio: plainDecimal(costRatio) }),
  ...(proxyRef === '' ? {} : { proxyRef }),
})

function plainDecimal(text: string): string {
  const decimal = parseDecimal(text)
  return decimal === null ? text : decimalText(decimal)
}

export function termsError(terms: ChannelTerms): ChannelError | null {
  if (terms.name.trim() === '') return codedError('NameRequired')
  if (terms.models.length === 0) return codedError('ModelsRequired')
  const error = invalidFieldError(terms)
  return error === null ? null : codedError('InvalidField', error)
}

/** Returns the error of the first invalid field, or null. Empty texts are valid. */
export function invalidFieldError(terms: ChannelTerms): FieldError | null {
  return (
    tooLong(terms) ??
    tooManyPairs(terms) ??
    textError(terms) ??
    urlError(terms.baseUrl) ??
    modelMappingError(terms.modelMapping) ??
    statusMappingError(terms.statusCodeMapping) ??
    objectError('setting', terms.setting) ??
    proxyError(terms) ??
    flagError(terms, 'include_usage') ??
    flagError(terms, 'rate_limit_headers') ??
    allowedMembersError(terms) ??
    responsesModelsError(terms) ??
    overrideError(terms.paramOverride) ??
    regionError(terms) ??
    costRatioError(terms)
  )
}

/** Returns the proxy address in the channel's extra settings, or an empty text. */
export function proxyOf({ setting }: Pick<ChannelTerms, 'setting'>): string {
  const members = readObject('setting', setting)
  const proxy = members instanceof Map ? members.get('proxy') : ''
  return typeof proxy === 'string' ? proxy : ''
}

/**
 * Returns the proxy for requests to the provider, or null if none is set. If the setting is
 * invalid, returns an empty text, which is not a proxy address. All requests of the channel then
 * fail, so that no request is sent without the proxy.
 */
export function proxyToUse({ setting }: Pick<ChannelTerms, 'setting'>): string | null {
  const members = readObject('setting', setting)
  if (!(members instanceof Map)) return ''
  const proxy = members.get('proxy') ?? null
  if (typeof proxy !== 'string') return proxy === null ? null : ''
  return proxy.trim() === '' ? null : proxy.trim()
}

function proxyError(terms: ChannelTerms): FieldError | null {
  const proxy = proxyToUse(terms)
  const isRight = proxy === null || proxyAddress(proxy) !== null
  return isRight ? null : { field: 'setting', error: 'not-proxy' }
}

/**
 * Checks an optional boolean in the channel's extra settings. If the boolean is omitted or null,
 * its default applies.
 */
function flagError({ setting }: ChannelTerms, name: string): FieldError | null {
  const members = readObject('setting', setting)
  const value = (members instanceof Map ? members.get(name) : null) ?? false
  return typeof value === 'boolean' ? null : { field: 'setting', error: 'not-flag', name }
}

/**
 * Checks `allowed_members`, the list of restricted request members that callers of the channel may
 * send. Without this list, callers may send no restricted member.
 */
function allowedMembersError({ type, setting }: ChannelTerms): FieldError | null {
  const members = readObject('setting', setting)
  const name = 'allowed_members'
  const names = (members instanceof Map ? members.get(name) : null) ?? []
  if (!Array.isArray(names)) return { field: 'setting', error: 'not-names', name }
  const allowable = allowableMembers(type)
  for (const member of names) {
    if (typeof member !== 'string') return { field: 'setting', error: 'not-names', name }
    if (!allowable.includes(member)) {
      return { field: 'setting', error: 'not-allowable', name: member.slice(0, 64) }
    }
  }
  return null
}

/** The maximum number of models that `responses_models` may list. */
const RESPONSES_MODELS_MAX = 500

/**
 * The provider types OpenAI and Azure. Channels of these types serve some models only with the
 * Responses API.
 */
const TYPES_WITH_RESPONSES_MODELS: readonly number[] = [1, 3]

/** Checks `responses_models`, the provider's names of models that serve only the Responses API. */
function responsesModelsError({ type, setting }: ChannelTerms): FieldError | null {
  const members = readObject('setting', setting)
  const name = 'responses_models'
  const models = (members instanceof Map ? members.get(name) : null) ?? null
  if (models === null) return null
  if (!TYPES_WITH_RESPONSES_MODELS.includes(type)) {
    return { field: 'setting', error: 'no-effect', name }
  }
  const isRight =
    Array.isArray(models) &&
    models.length <= RESPONSES_MODELS_MAX &&
    models.every((model) => typeof model === 'string')
  return isRight ? null : { field: 'setting', error: 'not-names', name }
}

/**
 * Checks the characters of names and texts. Names may contain only visible characters. Other texts
 * may contain any characters except control characters.
 */
function textError(terms: ChannelTerms): FieldError | null {
  for (const [field, key] of NAMES) {
    const names = [terms[key]].flat()
    if (!names.every(isName)) return { field, error: 'bad-character' }
  }
  return isText(terms.other) ? null : { field: 'other', error: 'bad-character' }
}

const NAMES = [
  ['name', 'name'],
  ['tag', 'tag'],
  ['models', 'models'],
  ['group', 'groups'],
  ['test_model', 'testModel'],
  ['openai_organization', 'organization'],
  ['model_prefix', 'modelPrefix'],
] as const

function urlError(baseUrl: string): FieldError | null {
  if (baseUrl === '' || NAMED_BASES.has(baseUrl)) return null
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null
  const isWeb = url?.protocol === 'https:' || url?.protocol === 'http:'
  const isPlain = isWeb && url.username === '' && url.password === '' && !/[\s\\]/.test(baseUrl)
  return isPlain ? null : { field: 'base_url', error: 'not-url' }
}

const REGION_NAME = /^[a-z0-9-]*$/

/**
 * Checks the region, which is a plain name, or a JSON object that maps models to names of regions.
 */
function regionError({ type, other }: ChannelTerms): FieldError | null {
  if (type !== REGIONAL) return null
  const field = 'other'
  if (!/^\s*[{[]/.test(other)) {
    return REGION_NAME.test(other.trim()) ? null : { field, error: 'bad-character' }
  }
  const members = checkedObject(field, other)
  if (!(members instanceof Map)) return members as FieldError
  for (const [name, region] of members as Members) {
    const isRight = typeof region === 'string' && region !== '' && REGION_NAME.test(region)
    if (!isRight) return { field, error: 'not-text', name: name.slice(0, 64) }
  }
  return null
}

function costRatioError({ costRatio }: ChannelTerms): FieldError | null {
  if (costRatio === undefined) return null
  const ratio = parseDecimal(costRatio)
  const isRight =
    ratio !== null && ratio.scale <= COST_RATIO_SCALE_MAX && !isAbove(ratio, COST_RATIO_MAX_DECIMAL)
  return isRight ? null : { field: 'cost_ratio', error: 'not-cost-ratio' }
}

function tooLong(terms: ChannelTerms): FieldError | null {
  if (bytesIn(JSON.stringify(terms)) <= TERMS_BYTES_MAX) return null
  const sizes = FREE_TEXTS.map(([field, key]) => ({ field, size: String(terms[key]).length }))
  const [longest] = sizes.sort((left, right) => right.size - left.size)
  return { field: longest?.field ?? 'models', error: 'too-long' }
}

const tooManyPairs = ({ models, groups }: ChannelTerms): FieldError | null =>
  models.length * groups.length <= PAIRS_MAX ? null : { field: 'group', error: 'too-many-pairs' }

const FREE_TEXTS = [
  ['models', 'models'],
  ['model_mapping', 'modelMapping'],
  ['setting', 'setting'],
  ['param_override', 'paramOverride'],
  ['status_code_mapping', 'statusCodeMapping'],
  ['group', 'groups'],
  ['other', 'other'],
] as const

/**
 * Returns an upper bound of the text's length in UTF-8. Each half of a surrogate pair counts as
 * three bytes.
 */
function bytesIn(text: string): number {
  let bytes = 0
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : 3
  }
  return bytes
}

function readObject(field: string, text: string) {
  const parsed: ParsedJson = text.trim() === '' ? { value: new Map() } : parseJsonText(text)
  if ('error' in parsed) return { field, ...parsed }
  return isObject(parsed.value) ? parsed.value : ({ field, error: 'not-object' } as const)
}

function checkedObject(field: string, text: string) {
  const members = readObject(field, text)
  const bad = members instanceof Map ? (badCharacter(members) ?? reservedName(members)) : null
  return bad === null ? members : { field, ...bad }
}

function objectError(field: string, text: string): FieldError | null {
  const members = checkedObject(field, text)
  return members instanceof Map ? null : (members as FieldError)
}

/**
 * Checks the request members that the channel overrides. A name is refused if it differs only in
 * letter case from an earlier name, or from a name that the relay reads. The provider may treat
 * both names as one parameter, but the relay would not.
 */
function overrideError(text: string): FieldError | null {
  const field = 'param_override'
  const members = checkedObject(field, text)
  if (!(members instanceof Map)) return members as FieldError
  const names = new Map(SPELLINGS)
  for (const name of (members as Members).keys()) {
    const spelling = names.get(foldedName(name)) ?? name
    if (spelling !== name) return { field, error: 'wrong-case', name: name.slice(0, 64) }
    names.set(foldedName(name), name)
  }
  return null
}

const SPELLINGS = namesByFoldedName([...READ_MEMBERS, ...OUTPUT_LIMITS])

/** Checks a model mapping, which must map names to names in at most 8 steps, without cycles. */
function modelMappingError(text: string): FieldError | null {
  const field = 'model_mapping'
  const members = checkedObject(field, text)
  if (!(members instanceof Map)) return members as FieldError
  for (const [name, target] of members as Members) {
    if (typeof target !== 'string' || target === '') return { field, error: 'not-text', name }
    const error = mappingError(name, (from) => (members as Members).get(from))
    if (error !== null) return { field, error: `mapping-${error}`, name }
  }
  return null
}

/**
 * Checks a mapping of HTTP statuses. Each target must be a status from 400 to 599, so that callers
 * still see an error.
 */
function statusMappingError(text: string): FieldError | null {
  const field = 'status_code_mapping'
  const members = checkedObject(field, text)
  if (!(members instanceof Map)) return members as FieldError
  for (const [name, target] of members as Members) {
    const digits = typeof target === 'string' ? target : isNumber(target) ? target.numberText : ''
    if (!isStatusMapping(name, digits)) return { field, error: 'not-status', name }
  }
  return null
}
