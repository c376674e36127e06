import Type from 'typebox'
import { onlyAdmin } from '#infra/http/access.ts'
import { languageOf } from '#infra/http/language.ts'
import { ChannelTestAnswer } from '#read-api/contract/channel-act.ts'
import { type ChannelAct, channelNow, contextOf, IdParams, visible } from './channel-act.ts'
import { testChannel } from './probe.ts'
import { testWords } from './test-words.ts'

const FLAG = Type.Union([Type.Literal('true'), Type.Literal('false'), Type.Literal('')])

/** `GET /api/channel/test/{id}?model`, for admins: one small chat, and how long it took. */
export const testOneChannel: ChannelAct = (api, deps) => {
  api.get(
    '/api/channel/test/:id',
    {
      onRequest: onlyAdmin,
      schema: {
        summary: 'Test a channel by one small chat; `time` is in seconds',
        params: IdParams,
        querystring: Type.Object({
          model: Type.Optional(Type.String({ maxLength: 256 })),
          stream: Type.Optional(FLAG),
        }),
        response: { 200: ChannelTestAnswer },
      },
    },
    async (request, reply) => {
      const { params, query } = request
      const channel = await channelNow(deps, Number(params.id))
      const context = contextOf(deps, request)
      const result = await testChannel(deps, {
        channel,
        model: query.model === '' ? undefined : query.model,
        isStream: query.stream === 'true',
        ...context,
      })
      deps.judge(channel, result, context)
      if (result.position !== null) await visible(deps, reply, result.position)
      const { isSuccess, model, durationMs, reason } = result
      const time = durationMs / 1_000
      return {
        success: isSuccess,
        message: testWords(result, channel)[languageOf(request)],
        ...(isSuccess ? {} : { code: 'ChannelTestFailed' }),
        time,
        data: { model, time, reason },
      }
    },
  )
}
