import type { Effort } from '../../canonical/canonical-request.ts'

/**
 * The request members that a model accepts. Anthropic's API answers any other member with an error.
 */
export type ModelRules = {
  /** True if the model accepts a thinking budget in tokens. */
  readonly acceptsBudget: boolean
  /** True if the model accepts adaptive thinking with an effort. */
  readonly acceptsAdaptive: boolean
  readonly efforts: ReadonlySet<Effort>
  /** True if thinking can be turned off. Some of the latest models always think. */
  readonly acceptsDisabledThinking: boolean
  /** True if `temperature`, `top_p` and `top_k` are accepted. */
  readonly acceptsSampling: boolean
  readonly acceptsTemperatureWithTopP: boolean
  /**
   * True if the model refuses sampling parameters while it thinks. A `top_p` of 0.95 or more is
   * still accepted.
   */
  readonly refusesSamplingWhileThinking: boolean
  /** True if a message may have the role `system`, which only Anthropic's own API accepts. */
  readonly acceptsSystemMessages: boolean
}

const OLDER_EFFORTS: ReadonlySet<Effort> = new Set<Effort>(['low', 'medium', 'high', 'max'])
const EFFORTS: ReadonlySet<Effort> = new Set<Effort>(['low', 'medium', 'high', 'xhigh', 'max'])

/**
 * The rules for models that are not Anthropic's. Providers of such models are most likely to
 * support the members that older Claude models accept.
 */
const OTHER_MODEL: ModelRules = {
  acceptsBudget: true,
  acceptsAdaptive: false,
  efforts: EFFORTS,
  acceptsDisabledThinking: true,
  acceptsSampling: true,
  acceptsTemperatureWithTopP: true,
  refusesSamplingWhileThinking: false,
  acceptsSystemMessages: false,
}

/**
 * Returns the rules for a model by its name, such as `claude-opus-4-8`, `claude-opus-4-5@20251101`,
 * or `anthropic/claude-4.7-opus`. A Claude model without a version in its name is treated as a
 * recent model that can turn off its thinking and does not accept system messages. Source: the
 * migration guides and the pages about thinking on platform.claude.com.
 */
export function modelRules(model: string): ModelRules {
  const name = model.toLowerCase()
  if (!name.includes('claude')) return OTHER_MODEL
  const version = versionOf(name) ?? LATEST
  return {
    acceptsBudget: version >= 3.07 && version < 4.07,
    acceptsAdaptive: version >= 4.06,
    efforts: version >= 4.07 ? EFFORTS : OLDER_EFFORTS,
    acceptsDisabledThinking: !alwaysThinks(name, version),
    acceptsSampling: version < 4.07,
    acceptsTemperatureWithTopP: version < 4.01,
    refusesSamplingWhileThinking: true,
    acceptsSystemMessages: version >= 4.08 && version < LATEST && isNameOfOwnApi(name),
  }
}

const LATEST = Number.POSITIVE_INFINITY

function alwaysThinks(name: string, version: number): boolean {
  if (version === LATEST) return false
  if (/fable|mythos/.test(name)) return version >= 5.01
  return name.includes('opus') && version >= 5.05
}

const VERSION = /claude[a-z-]*?-?(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)/

/**
 * Returns the version in a model name as a number with two digits for the minor version: 4.07 for
 * 4.7. Returns null if the name contains no version.
 */
function versionOf(name: string): number | null {
  const match = VERSION.exec(name)
  if (match === null) return null
  const [, major = '0', minor = '0'] = match
  return (Number(major) * 100 + Number(minor)) / 100
}

/**
 * Reports whether the form of a model name shows that Anthropic's own API serves the model. Names
 * at Amazon begin with `anthropic.` or a region, and names at Google contain `@`.
 */
const isNameOfOwnApi = (name: string): boolean => name.startsWith('claude-') && !name.includes('@')
