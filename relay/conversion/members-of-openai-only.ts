import type { JsonObject } from '#relay/canonical/json-values.ts'
import type { CanonicalRequest, OpenAiMembers } from '../canonical/canonical-request.ts'
import { addLoss } from './collect-losses.ts'
import { optionalObject, optionalText } from './read-json-values-strictly.ts'

/** The default verbosity. A member with this value can be omitted without a loss. */
const DEFAULT_VERBOSITY = 'medium'

/**
 * Reads the members that only OpenAI's two formats have. `verbosity` is the value of the member of
 * this name, and its path, which differs between the formats. The result is empty if the request
 * has none of these members.
 */
export function readOpenAiMembers(
  body: JsonObject,
  [verbosityValue, verbosityPath]: readonly [value: unknown, path: string],
): Pick<CanonicalRequest, 'openAi'> {
  const user = optionalText(body.user, 'user')
  const identifier = optionalText(body.safety_identifier, 'safety_identifier')
  const verbosity = optionalText(verbosityValue, verbosityPath)
  const openAi: OpenAiMembers = {
    verbosity: verbosity === DEFAULT_VERBOSITY ? null : verbosity,
    metadata: optionalObject(body.metadata, 'metadata'),
    promptCacheRetention: optionalText(body.prompt_cache_retention, 'prompt_cache_retention'),
    safetyIdentifier: user === null || user === identifier ? null : identifier,
  }
  return Object.values(openAi).every((value) => value === null) ? {} : { openAi }
}

/** Returns the end user of a request in one of OpenAI's formats. `user` is the older member. */
export const readEndUser = (body: JsonObject): string | null =>
  optionalText(body.user, 'user') ?? optionalText(body.safety_identifier, 'safety_identifier')

/** The members of a request that has none of them. */
export const NO_OPENAI_MEMBERS: OpenAiMembers = {
  ...{ verbosity: null, metadata: null, promptCacheRetention: null, safetyIdentifier: null },
}

/** Reports as lost the members that only OpenAI's formats have, or only those in `names`. */
export function addLossesOfOpenAiMembers(
  { openAi = NO_OPENAI_MEMBERS }: Pick<CanonicalRequest, 'openAi'>,
  losses: string[],
  names = Object.keys(NO_OPENAI_MEMBERS) as readonly (keyof OpenAiMembers)[],
): void {
  for (const name of names) if (openAi[name] !== null) addLoss(losses, `openAi.${name}`)
}

/**
 * Matches the models that accept a verbosity. OpenAI's others refuse one, as many servers do. Azure
 * calls GPT-3.5 `gpt-35-turbo`.
 */
const WITH_VERBOSITY = /^gpt-[5-9](?!.*-(?:chat|codex))/
/** Matches the models that accept `prompt_cache_retention`. OpenAI's others refuse it. */
const WITH_CACHE_RETENTION = /^gpt-(?:4\.1|[5-9])/

/** Returns the name of a model without the name of its maker, in lower case. */
const bareName = (model: string): string => model.slice(model.lastIndexOf('/') + 1).toLowerCase()

/**
 * Returns the verbosity to write, or null for none. A verbosity that the model refuses is reported
 * as lost. `model` is OpenAI's name for the model.
 */
export function verbosityFor(
  { verbosity }: OpenAiMembers,
  model: string,
  losses: string[],
): string | null {
  if (verbosity === null || WITH_VERBOSITY.test(bareName(model))) return verbosity
  addLoss(losses, 'openAi.verbosity')
  return null
}

/**
 * Returns the retention of the provider's cache to write, or null for none. A retention that the
 * model refuses is reported as lost. `model` is OpenAI's name for the model.
 */
export function cacheRetentionFor(
  { promptCacheRetention }: OpenAiMembers,
  model: string,
  losses: string[],
): string | null {
  if (promptCacheRetention === null) return null
  if (WITH_CACHE_RETENTION.test(bareName(model))) return promptCacheRetention
  addLoss(losses, 'openAi.promptCacheRetention')
  return null
}

const PAIRS_MAX = 16
const KEY_LENGTH_MAX = 64
const VALUE_LENGTH_MAX = 512

/**
 * Returns the metadata to write, or null for none. Metadata that OpenAI refuses is reported as
 * lost: it accepts at most 16 pairs of a key and a text.
 */
export function acceptedMetadata({ metadata }: OpenAiMembers, losses: string[]): JsonObject | null {
  if (metadata === null) return null
  const pairs = Object.entries(metadata)
  const isAccepted =
    pairs.length <= PAIRS_MAX &&
    pairs.every(
      ([key, value]) =>
        key.length <= KEY_LENGTH_MAX &&
        typeof value === 'string' &&
        value.length <= VALUE_LENGTH_MAX,
    )
  if (isAccepted) return metadata
  addLoss(losses, 'openAi.metadata')
  return null
}
