import { onlyAdmin } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { success } from '#infra/http/response-envelope.ts'
import { channelChecks } from '#read-api/contract/channel-actions.ts'
import { isObject, type JsonObject, parsedObject } from '#relay/canonical/json-values.ts'
import { type ProviderTarget, providerRequest } from '../providers/profiles/provider-target.ts'
import { type ActionDeps, type ChannelAction, currentChannel } from './channel-action.ts'
import { channelActionError } from './channel-action-errors.ts'
import { sendGetRequest, unexpectedFormat } from './send-get-request-to-provider.ts'
import { unsavedTarget } from './unsaved-channel-target.ts'

/** The maximum length of a model name. Longer names are ignored. */
const NAME_LENGTH_MAX = 256
const NAMES_MAX = 5_000

/**
 * The known formats of model lists. `list` is the member of the response that holds the list.
 * `name` is the member of each list entry that holds the model's name.
 */
const LISTS: readonly (readonly [list: string, name: string])[] = [
  ['data', 'id'],
  ['models', 'name'],
  ['result', 'name'],
]

/**
 * Returns the model names of a provider's list. Reads OpenAI's `data[].id`, Cohere's and Gemini's
 * `models[].name` and Cloudflare's `result[].name`. Returns null for any other format.
 */
export function modelsIn(text: string): readonly string[] | null {
  const answer = parsedObject(text)
  if (answer === null) return null
  for (const [list, name] of LISTS) {
    const entries = answer[list]
    if (!Array.isArray(entries)) continue
    const names = entries.filter(isForCalls).map((entry) => withoutPrefix(entry[name]))
    return [...new Set(names.filter(isName))].slice(0, NAMES_MAX)
  }
  return null
}

const METHODS = ['generateContent', 'embedContent', 'batchEmbedContents']

/**
 * Reports whether the gateway can call the model of a list entry. Gemini lists the methods that
 * each model supports. A model that supports none of `METHODS`, such as one that only answers
 * questions about given sources, is left out.
 */
function isForCalls(entry: unknown): entry is JsonObject {
  if (!isObject(entry)) return false
  const { supportedGenerationMethods: methods } = entry
  return !Array.isArray(methods) || METHODS.some((method) => methods.includes(method))
}

/** Removes the prefix `models/`, with which Gemini lists its models. */
const withoutPrefix = (name: unknown): unknown =>
  typeof name === 'string' ? name.replace(/^models\//, '') : name

/**
 * Reports whether the value is a usable model name. Names with commas are excluded, because
 * requests separate model names by commas.
 */
const isName = (value: unknown): value is string =>
  typeof value === 'string' &&
  value !== '' &&
  value.length <= NAME_LENGTH_MAX &&
  /^[^,\p{Cc}\p{Cs}]+$/u.test(value)

/**
 * Serves `GET /api/channel/fetch_models/{id}` and `POST /api/channel/fetch_models` for admins. Both
 * routes return the models that a provider lists. The stored key of a channel is sent only to the
 * channel's stored address.
 */
export const fetchModels: ChannelAction = (api, deps) => {
  api.route({
    ...endpoint(channelChecks, 'GET /api/channel/fetch_models/:id'),
    onRequest: onlyAdmin,
    handler: async ({ params }) => {
      const { target } = await currentChannel(deps, Number(params.id))
      if (target === null) throw channelActionError('ChannelNotCallable')
      return success(await modelsOf(deps, target))
    },
  })
  api.route({
    ...endpoint(channelChecks, 'POST /api/channel/fetch_models'),
    onRequest: onlyAdmin,
    handler: async ({ body }) => success(await modelsOf(deps, await unsavedTarget(deps, body))),
  })
}

async function modelsOf(
  { providerOutbound }: ActionDeps,
  target: ProviderTarget,
): Promise<string[]> {
  const { modelsPath } = target.profile
  if (modelsPath === null) throw channelActionError('ModelsNotListed')
  const request = providerRequest(target, modelsPath, { isUnversioned: false })
  const reply = await sendGetRequest(providerOutbound.via(target.proxy), request)
  if (!reply.isAnswered) throw channelActionError('ModelsUnavailable', reply.why)
  const names = modelsIn(reply.text)
  if (names === null) throw channelActionError('ModelsUnavailable', unexpectedFormat())
  return [...names]
}
