import { describe, expect, it } from 'vitest'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { callerOf, seededFixture } from './write-fixture.ts'

const fixture = startedOnce(seededFixture)

const PROVIDER_KEY = 'sk-canary-of-the-provider'
const PROXY_PASSWORD = 'canary-of-the-proxy'
const NEW_PASSWORD = 'canary password'

/** Returns the whole database as text, without the ciphertexts of the vault. */
async function dump(): Promise<string> {
  const tables = await fixture.core.pg.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
     where schemaname not in ('pg_catalog', 'information_schema')`,
  )
  const texts: string[] = []
  for (const { name } of tables.rows) {
    const { rows } = await fixture.core.pg.query(`select t::text from ${name} t`)
    texts.push(JSON.stringify(rows))
  }
  return texts.join('\n')
}

type Place = 'events' | 'tables' | 'answers'

/** Returns all stored data and all responses as text. */
const everything = async (answers: unknown): Promise<Record<Place, string>> => ({
  events: JSON.stringify(await fixture.core.store.readAll(0, 10_000)),
  tables: await dump(),
  answers: JSON.stringify(answers),
})

const placesOf = (secret: string, texts: Record<Place, string>): string[] =>
  Object.entries(texts).flatMap(([place, text]) => (text.includes(secret) ? [place] : []))

describe('secrets', () => {
  it('are in no event, in no table, and only in answers that must show them', async () => {
    const { root, user } = fixture
    const answers: unknown[] = []
    const setting = JSON.stringify({ proxy: `http://me:${PROXY_PASSWORD}@p.example:1` })
    const body = { name: 'c', key: PROVIDER_KEY, models: 'm', setting }
    const channel = await root.call<{ id: number }>('POST', '/api/channel/', { body })
    answers.push(channel, await root.call('GET', `/api/channel/${channel.data.id}`))
    answers.push(await root.call('GET', '/api/channel/?p=0'))
    const token = await user.call<{ key: string }>('POST', '/api/token/', { body: { name: 't' } })
    answers.push(await root.call('GET', '/api/token/?p=0'))
    answers.push(await root.call('PUT', '/api/user/', { body: { id: 2, password: NEW_PASSWORD } }))
    const session = await fixture.logIn('admin1', NEW_PASSWORD)
    const me = callerOf(fixture.app, { cookie: session.cookie, 'user-id': '2' })
    answers.push(await me('GET', '/api/user/self'), await root.call('GET', '/api/user/?p=0'))

    const secrets = [
      PROVIDER_KEY,
      PROXY_PASSWORD,
      token.data.key,
      NEW_PASSWORD,
      session.cookie.slice(8),
    ]
    const texts = await everything(answers)
    for (const secret of secrets) {
      expect(secret.length).toBeGreaterThan(10)
      expect(placesOf(secret, texts)).toEqual([])
    }
    expect(texts.events).not.toContain('user1')
  })

  it('are found by the search of this test when they are planted in these places', async () => {
    const planted = 'sk-planted-where-it-must-not-be'
    const body = { key: 'Notice', value: `call us: ${planted}` }
    expect(await fixture.root.call('PUT', '/api/option/', { body })).toMatchObject({
      success: true,
    })
    const answer = await fixture.root.call('GET', '/api/option/')
    const texts = await everything([answer])
    expect(placesOf(planted, texts)).toEqual(['events', 'tables', 'answers'])
    expect(placesOf(planted, { ...texts, answers: '' })).toEqual(['events', 'tables'])
  })
})
