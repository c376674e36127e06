import { type MailServer, startMailServer } from '#test/support/mail-server.ts'
import { PASSWORD, type SeededFixture, seededFixture } from './write-fixture.ts'

/** A seeded site with a real mail server in this process. */
export async function entryFixture() {
  const server: MailServer = await startMailServer()
  const fixture: SeededFixture = await seededFixture()
  const put = async (key: string, value: string) => {
    const answer = await fixture.root.call('PUT', '/api/option/', { body: { key, value } })
    if (!answer.success) throw new Error(`${key}: ${answer.message}`)
  }
  await put('SMTPServer', '127.0.0.1')
  await put('SMTPPort', String(server.port))
  await put('SMTPFrom', 'noreply@site.example')
  const askCode = (email: string, call = fixture.anybody) =>
    call('GET', `/api/verification?${new URLSearchParams({ email })}`)
  return {
    ...fixture,
    server,
    put,
    askCode,
    /**
     * Resets every limit by moving the clock. The sessions are used, so that they stay valid, and
     * their users prove their identity again.
     */
    anHourLater: async () => {
      fixture.clock.ahead += 3_600_000
      for (const { call } of [fixture.root, fixture.admin, fixture.user]) {
        await call('GET', '/api/user/self')
        await call('POST', '/api/user/proof', { body: { password: PASSWORD } })
      }
    },
    /** Requests a verification code as the caller `call`, and returns it. */
    codeFor: async (email: string, call = fixture.anybody): Promise<string> => {
      const answer = await askCode(email, call)
      if (!answer.success) throw new Error(answer.message)
      return /\b\d{6}\b/.exec((await server.mailTo(email)).text)?.[0] ?? ''
    },
    register: (body: object, query = '') =>
      fixture.anybody<{ id: number }>('POST', `/api/user/register${query}`, { body }),
    close: async () => {
      await fixture.close()
      await server.close()
    },
  }
}

export type EntryFixture = Awaited<ReturnType<typeof entryFixture>>
