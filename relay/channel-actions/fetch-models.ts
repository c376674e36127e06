import { onlyAdmin } from '#infra/http/access.ts'
import { endpoint } from '#infra/http/endpoint.ts'
import { success } from '#infra/http/envelope.ts'
import { channelChecks } from '#read-api/contract/channel-actions.ts'
import { type ProviderTarget, sideRequest } from '../providers/openai-compatible/target.ts'
import { askProvider, notUnderstood } from './ask-provider.ts'
import { type ActionDeps, type ChannelAct, channelNow } from './channel-action.ts'
import { channelActionError } from './channel-action-errors.ts'
import { enteredTarget } from './entered-target.ts'

/** Names that are no longer than this, and no more of them, can be a channel's models. */
const NAME_LENGTH_MAX = 256
const NAMES_MAX = 5_000

type Loose = Readonly<Record<string, unknown>>

/** By the list's name: which member of an entry is the name to call the model by. */
const LISTS: readonly (readonly [list: string, name: string])[] = [
  ['data', 'id'],
  ['models', 'name'],
  ['result', 'name'],
]

/**
 * The names in a provider's list of models, in its order: OpenAI's `data[].id`, Cohere's
 * `models[].name`, Cloudflare's `result[].name`. null when it is none of these.
 */
export function modelsIn(text: string): readonly string[] | null {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return null
  }
  if (typeof value !== 'object' || value === null) return null
  for (const [list, name] of LISTS) {
    const entries = (value as Loose)[list]
    if (!Array.isArray(entries)) continue
    const names = entries.map((entry: unknown) =>
      typeof entry === 'object' && entry !== null ? (entry as Loose)[name] : null,
    )
    return [...new Set(names.filter(isName))].slice(0, NAMES_MAX)
  }
  return null
}

/** A comma would part it in two on the wire; a control character is no name. */
const isName = (value: unknown): value is string =>
  typeof value === 'string' &&
  value !== '' &&
  value.length <= NAME_LENGTH_MAX &&
  /^[^,\p{Cc}\p{Cs}]+$/u.test(value)

/**
 * `GET /api/channel/fetch_models/{id}` and `POST /api/channel/fetch_models`, for admins: the names
 * of the models that a provider lists. A stored key goes to its stored address alone.
 */
export const fetchModels: ChannelAct = (api, deps) => {
  api.route({
    ...endpoint(channelChecks, 'GET /api/channel/fetch_models/:id'),
    onRequest: onlyAdmin,
    handler: async ({ params }) => {
      const { target } = await channelNow(deps, Number(params.id))
      if (target === null) throw channelActionError('ChannelNotCallable')
      return success(await listed(deps, target))
    },
  })
  api.route({
    ...endpoint(channelChecks, 'POST /api/channel/fetch_models'),
    onRequest: onlyAdmin,
    handler: async ({ body }) => success(await listed(deps, await enteredTarget(deps, body))),
  })
}

async function listed({ side }: ActionDeps, target: ProviderTarget): Promise<string[]> {
  const { modelsPath } = target.profile
  if (modelsPath === null) throw channelActionError('ModelsNotListed')
  const asked = sideRequest(target, modelsPath, { isBeside: false })
  const told = await askProvider(side.via(target.proxy), asked)
  if (!told.isTold) throw channelActionError('ModelsUnavailable', told.why)
  const names = modelsIn(told.text)
  if (names === null) throw channelActionError('ModelsUnavailable', notUnderstood())
  return [...names]
}
