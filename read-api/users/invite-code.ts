import Type from 'typebox'
import { onlyUser, principalOf } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { codeOfId } from '#infra/vault/id-code.ts'
import { Envelope } from '../contract/envelope.ts'
import type { App, ReadDeps } from '../question.ts'

/** `GET /api/user/aff`: the code that one's invite link carries; always the same. */
export function inviteCode(app: App, { core }: ReadDeps): void {
  app.get(
    '/api/user/aff',
    { schema: { response: { 200: Envelope(Type.String()) } }, onRequest: onlyUser },
    async (request) => success(codeOfId(core.vault, principalOf(request).userId)),
  )
}
