import type { ChannelTerms } from '#domain/channels/events.ts'
import type { ModelPattern } from './provider-profile.ts'
import { entriesOf, modelNamesIn } from './read-channel-json-and-model-mapping.ts'

/**
 * Matches all models except those that OpenAI serves only by the Responses API, according to their
 * pages below platform.openai.com/docs/models.
 */
export const MODELS_WITH_CHATS =
  /^(?!(?:gpt-5(?:\.\d+)?|o\d)-(?:codex|pro)|codex-|computer-use-|o\d(?:-mini)?-deep-research)/

/**
 * Matches the models that OpenAI runs only together with one of OpenAI's tools, such as the web
 * search (platform.openai.com/docs/guides/deep-research).
 */
export const NEEDS_PROVIDER_TOOL = /^o\d(?:-mini)?-deep-research/

/**
 * Matches the names of OpenAI's text models since GPT-4o, with or without a date at the end. A name
 * with another number at the end is not matched, because it belongs to a deployment. For example,
 * `gpt-4o-2` may be a second deployment of `gpt-4o`.
 */
const EXACT_OPENAI_NAME = new RegExp(
  '^(?:gpt-(?:4o|4\\.1|5(?:\\.\\d+)?)|o\\d)' +
    '(?:-(?:mini|nano|pro|max|chat|latest|codex|deep-research))*(?:-\\d{4}-\\d\\d-\\d\\d)?$',
)
const OPENAI_NAME = /^(?:gpt-|chatgpt-|o\d|codex-|computer-use-)/
export const AZURE_TYPE = 3
/** The hosts that are known to offer OpenAI's Responses API, by channel type. */
const HOSTS: ReadonlyMap<number, RegExp> = new Map([
  [1, /^(?:[a-z]{2}\.)?api\.openai\.com$/],
  [AZURE_TYPE, /\.(?:openai|cognitiveservices|services\.ai)\.azure\.(?:com|us|cn)$/],
])

/**
 * Returns OpenAI's name for the model of an Azure deployment, which may have any name. If
 * `EXACT_OPENAI_NAME` matches the deployment's name, this name is returned, even if the channel
 * maps another model to the deployment. If not, the first name of an OpenAI model that the channel
 * maps to the deployment is returned. If there is none either, the deployment's name is returned.
 */
export function openAiNameOf(modelNames: ReadonlyMap<string, string>, deployment: string): string {
  if (EXACT_OPENAI_NAME.test(deployment)) return deployment
  for (const [name, provider] of modelNames) {
    if (provider === deployment && OPENAI_NAME.test(name)) return name
  }
  return deployment
}

/**
 * Returns a pattern for the models that a channel's provider serves by chat completions. A chat
 * with any other model is converted to the Responses API. The channel's setting `responses_models`
 * lists these other models by the provider's names. Without this setting, `MODELS_WITH_CHATS`
 * applies at the hosts of OpenAI and Azure only, because another server may not offer the Responses
 * API. Returns undefined if the provider serves all models by chat completions.
 */
export function modelsWithChatsAt(
  {
    type,
    modelMapping,
    setting,
  }: Pick<ChannelTerms, 'type' | 'setting'> & {
    readonly modelMapping?: string
  },
  hostname: string,
): ModelPattern | undefined {
  const listed = new Map(entriesOf(setting)).get('responses_models')
  if (Array.isArray(listed)) return { test: (model) => !listed.includes(model) }
  if (HOSTS.get(type)?.test(hostname) !== true) return undefined
  if (type !== AZURE_TYPE) return MODELS_WITH_CHATS
  const modelNames = modelNamesIn(modelMapping ?? '')
  return { test: (deployment) => MODELS_WITH_CHATS.test(openAiNameOf(modelNames, deployment)) }
}
