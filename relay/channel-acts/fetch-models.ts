import Type from 'typebox'
import { onlyAdmin } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { Envelope } from '#read-api/contract/envelope.ts'
import { type ProviderTarget, sideRequest } from '#relay/providers/openai-compatible/target.ts'
import { FetchModels } from '#write-api/contract/channel-act.ts'
import { askProvider, notUnderstood } from './ask-provider.ts'
import { type ActDeps, type ChannelAct, channelNow, IdParams } from './channel-act.ts'
import { enteredTarget } from './entered-target.ts'
import { modelsIn } from './model-list.ts'
import { refused } from './refusals.ts'

const Names = Envelope(Type.Array(Type.String()))

/**
 * `GET /api/channel/fetch_models/{id}` and `POST /api/channel/fetch_models`, for admins: the names
 * of the models that a provider lists. A stored key goes to its stored address alone.
 */
export const fetchModels: ChannelAct = (api, deps) => {
  api.get(
    '/api/channel/fetch_models/:id',
    {
      onRequest: onlyAdmin,
      schema: {
        summary: 'The models a channel’s provider lists',
        params: IdParams,
        response: { 200: Names },
      },
    },
    async ({ params }) => {
      const { target } = await channelNow(deps, Number(params.id))
      if (target === null) throw refused('ChannelNotCallable')
      return success(await listed(deps, target))
    },
  )
  api.post(
    '/api/channel/fetch_models',
    {
      onRequest: onlyAdmin,
      schema: {
        summary: 'The models an address lists, before there is a channel for it',
        body: FetchModels,
        response: { 200: Names },
      },
    },
    async ({ body }) => success(await listed(deps, await enteredTarget(deps, body))),
  )
}

async function listed({ side }: ActDeps, target: ProviderTarget): Promise<string[]> {
  const { modelsPath } = target.profile
  if (modelsPath === null) throw refused('ModelsNotListed')
  const asked = sideRequest(target, modelsPath, { isBeside: false })
  const told = await askProvider(side.via(target.proxy), asked)
  if (!told.isTold) throw refused('ModelsUnavailable', told.why)
  const names = modelsIn(told.text)
  if (names === null) throw refused('ModelsUnavailable', notUnderstood())
  return [...names]
}
