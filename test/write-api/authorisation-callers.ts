import { type LoggedIn, PASSWORD, type SeededFixture } from './write-fixture.ts'

/** The request headers that identify the caller. */
export type Shown = Readonly<Record<string, string>>

/** The callers, in addition to those of the fixture, that both authorisation matrices use. */
export type Callers = {
  /** A caller with an access token and without a cookie. */
  readonly byToken: { readonly user: Shown; readonly auditor: Shown; readonly admin: Shown }
  /** Credentials that have expired, were revoked, or are valid only elsewhere. */
  readonly voidWays: readonly (readonly [way: string, shown: Shown])[]
}

/**
 * The statuses of a caller who passed all access checks: the request is invalid, the object does
 * not exist, or the request succeeded.
 */
export const REACHED = [200, 400, 404]

/** None of these is the id of the fixture's user. */
export const OTHER_IDS = ['', '1', '03', 'x']

export const shownBy = ({ id, cookie }: LoggedIn): Shown => ({ cookie, 'user-id': String(id) })

export async function makeCallers(fixture: SeededFixture): Promise<Callers> {
  const { core, root } = fixture
  const made = (username: string) =>
    root.call<{ id: number }>('POST', '/api/user/', { body: { username, password: PASSWORD } })
  const newUser = async (username: string): Promise<LoggedIn> => {
    await made(username)
    return fixture.logIn(username)
  }
  const user = await tokenOf(await newUser('token1'))
  const { id } = (await made('token2')).data
  await root.call('POST', '/api/user/manage', { body: { id, action: 'promote' } })
  const admin = await tokenOf(await fixture.logIn('token2'))

  const expired = await newUser('expired1')
  await core.pg.query('update auth.sessions set started_at = 0 where user_id = $1', [expired.id])
  const voidWays: [string, Shown][] = [['an expired session', shownBy(expired)]]
  for (const action of ['disable', 'delete'] as const) {
    const somebody = await newUser(`${action}d1`)
    const token = await tokenOf(somebody)
    await root.call('POST', '/api/user/manage', { body: { id: somebody.id, action } })
    voidWays.push([`a session of before: ${action}`, shownBy(somebody)])
    voidWays.push([`a token: ${action}`, token])
  }
  const own = { 'user-id': String(fixture.user.id) }
  const mine = await newUser('relayer1')
  const token = await mine.call<{ key: string }>('POST', '/api/token/', { body: { name: 'mine' } })
  const { key } = token.data
  for (const text of [`sk-${key}`, key]) {
    const shown = { authorization: `Bearer ${text}`, 'user-id': String(mine.id) }
    voidWays.push(['a relay key', shown])
  }
  voidWays.push(['a made-up token', { authorization: `Bearer sat_${'x'.repeat(43)}`, ...own }])
  const auditing = (await made('token3')).data
  const appoint = { id: auditing.id, action: 'appoint_auditor' }
  await root.call('POST', '/api/user/manage', { body: appoint })
  const auditor = await tokenOf(await fixture.logIn('token3'))
  return { byToken: { user, auditor, admin }, voidWays }
}

async function tokenOf({ id, call }: LoggedIn): Promise<Shown> {
  const { data } = await call<string>('GET', '/api/user/token')
  return { authorization: `Bearer ${data}`, 'user-id': String(id) }
}
