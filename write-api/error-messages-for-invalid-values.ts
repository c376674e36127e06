import type { TermsErrorCode } from '#domain/channels/validate-channel-fields.ts'
import type { OptionErrorCode } from '#domain/options/check-option.ts'
import type { OptionUnit } from '#domain/options/option-definition.ts'
import type { TranslatedText } from '#domain/shared/translated-text.ts'
import { TARGET_TEXTS } from '#infra/http/check-channel-address-and-proxy.ts'

type Details = Readonly<Record<string, string | number>>
type ProblemCode = TermsErrorCode | OptionErrorCode

/**
 * Returns the message for an invalid value. `error` is the domain's error code, and `name` is the
 * invalid entry of a list or map. `minimum` and `maximum` are given in `unit`.
 */
export function validationMessage({
  error = '',
  name,
  minimum,
  maximum,
  unit = '',
}: Details): TranslatedText {
  const { zh, en } = PROBLEMS[error as ProblemCode]
  const units = UNITS[unit as OptionUnit] ?? { zh: '', en: '' }
  const figures = (language: 'zh' | 'en'): string => {
    const bounds = NO_NUMBER.has(error)
      ? rangeText(minimum, maximum)[language]
      : String((error === 'above-maximum' ? maximum : (minimum ?? maximum)) ?? '')
    const unitText = bounds === '1' ? units[language].replace(/s$/, '') : units[language]
    const limit = bounds === '' ? '' : bounds + unitText
    return [name ?? '', limit].filter((figure) => figure !== '').join(', ')
  }
  const [inZh, inEn] = [figures('zh'), figures('en')]
  return inEn === '' ? { zh, en } : { zh: `${zh}（${inZh}）`, en: `${en} (${inEn})` }
}

/**
 * The error codes for values that are not numbers. Messages for these codes contain both the
 * minimum and the maximum.
 */
const NO_NUMBER = new Set<unknown>(['not-integer', 'not-number'])

function rangeText(minimum: string | number = '', maximum: string | number = ''): TranslatedText {
  if (minimum === '' || maximum === '') return { zh: '', en: '' }
  return { zh: `${minimum} 至 ${maximum}`, en: `${minimum} to ${maximum}` }
}

const UNITS: Record<OptionUnit, TranslatedText> = {
  quota: { zh: ' 额度单位', en: ' quota units' },
  dollar: { zh: ' 美元', en: ' dollars' },
  percent: { zh: '%', en: '%' },
  second: { zh: ' 秒', en: ' seconds' },
  minute: { zh: ' 分钟', en: ' minutes' },
  millisecond: { zh: ' 毫秒', en: ' milliseconds' },
}

const PROBLEMS: Record<ProblemCode, TranslatedText> = {
  'not-json': { zh: '不是合法的 JSON 字符串', en: 'is not valid JSON' },
  'duplicate-key': { zh: '名称重复出现', en: 'contains a name twice' },
  'too-deep': { zh: '嵌套过深', en: 'is nested too deeply' },
  'not-object': { zh: '必须是 JSON 对象', en: 'must be a JSON object' },
  'not-list': { zh: '必须是 JSON 数组', en: 'must be a JSON array' },
  'not-url': TARGET_TEXTS.notUrl,
  'not-text': { zh: '必须是非空字符串', en: 'must be a non-empty string' },
  'not-status': {
    zh: '状态码必须映射到 400 至 599',
    en: 'must map to status codes from 400 to 599',
  },
  'mapping-circle': { zh: '模型映射存在循环', en: 'contains a circular model mapping' },
  'mapping-too-deep': {
    zh: '模型映射层级过多',
    en: 'contains a model mapping with too many steps',
  },
  'not-flag': { zh: '必须是 true 或 false', en: 'must be true or false' },
  'not-names': {
    zh: '必须是名称列表，例如 ["service_tier"]',
    en: 'must be a list of names, such as ["service_tier"]',
  },
  'not-allowable': {
    zh: '不能在此类型的渠道中放行',
    en: 'cannot be allowed in a channel of this type',
  },
  'no-effect': {
    zh: '在此类型的渠道中不起作用',
    en: 'has no effect in a channel of this type',
  },
  'wrong-case': {
    zh: '参数名的大小写不正确',
    en: 'contains a parameter name in wrong letter case',
  },
  'not-integer': { zh: '必须是整数', en: 'must be an integer' },
  'not-number': { zh: '请输入数字', en: 'must be a number' },
  'below-minimum': { zh: '小于允许的最小值', en: 'is below the minimum' },
  'above-maximum': { zh: '大于允许的最大值', en: 'is above the maximum' },
  'too-long': { zh: '内容过长', en: 'is too long' },
  'too-many-pairs': {
    zh: '过多：模型数与分组数之积不能超过 100000',
    en: 'has too many groups: models times groups must not exceed 100000',
  },
  'not-cost-ratio': {
    zh: '必须是 0 至 1000 的数字，最多 6 位小数',
    en: 'must be a number from 0 to 1000 with at most 6 decimals',
  },
  'not-proxy': TARGET_TEXTS.notProxy,
  'too-many-bytes': { zh: '内容字节数过多', en: 'is too large in bytes' },
  'bad-character': { zh: '包含不允许的字符', en: 'contains a character that is not allowed' },
  'not-one-line': { zh: '不能包含换行', en: 'must be a single line' },
  'not-host': { zh: '不是合法的主机名或 IP 地址', en: 'is not a valid host name or IP address' },
  'not-mail': { zh: '不是合法的邮箱地址', en: 'is not a valid mail address' },
  empty: { zh: '不能为空', en: 'must not be empty' },
  'not-choice': { zh: '不是可选的值', en: 'is not one of the allowed values' },
  'not-ratio': { zh: '倍率必须是不小于 0 的数字', en: 'must contain only ratios of 0 or more' },
  'zero-ratio': { zh: '倍率必须大于 0', en: 'must contain only ratios above 0' },
  'not-count': { zh: '必须是大于 0 的整数', en: 'must contain only integers above 0' },
  'not-limit': { zh: '必须是不小于 0 的整数', en: 'must contain only integers of 0 or more' },
  'not-tiers': {
    zh: '阶梯须按 above_input_tokens 递增，倍率不小于 1 且不递减',
    en: 'needs tiers with rising above_input_tokens and ratios that start at 1 and never fall',
  },
  'not-link': { zh: '链接格式错误', en: 'contains an invalid link' },
  'entry-missing': { zh: '缺少必需的条目', en: 'lacks a required entry' },
  rivals: { zh: '不能与以下选项同时设置', en: 'cannot be set together with' },
  'name-needless': { zh: '不应有名称', en: 'does not take a name' },
  'name-missing': { zh: '存在空名称', en: 'contains an empty name' },
  'name-too-long': { zh: '名称过长', en: 'contains a name that is too long' },
  'name-reserved': { zh: '包含不允许的名称', en: 'contains a name that is not allowed' },
  secret: { zh: '是机密选项', en: 'is a secret option' },
  'not-secret': { zh: '不是机密选项', en: 'is not a secret option' },
}

/**
 * Returns the message `several` with a list of names at its end, such as `…: a, b, c and 97 more`.
 * If there are no names, returns the message `one`.
 */
export function appendNames(
  { names, more }: Details,
  one: TranslatedText,
  several: TranslatedText,
): TranslatedText {
  if (names === undefined) return one
  const [zh, en] = more === undefined ? ['', ''] : [` 等，另有 ${more} 个`, ` and ${more} more`]
  return { zh: `${several.zh}：${names}${zh}`, en: `${several.en}: ${names}${en}` }
}
