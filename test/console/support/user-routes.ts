import type { User } from '#read-api/contract/users.ts'
import type { AdjustQuota } from '#write-api/contract/users.ts'
import { type FakeRoutes, ok, refused } from './fake-site.ts'

const NOW = Math.floor(Date.now() / 1000)

export const user = (patch: Partial<User>): User => ({
  id: 1,
  username: 'root',
  display_name: 'Root',
  email: '',
  github_id: '',
  oidc_id: '',
  wechat_id: '',
  telegram_id: '',
  linux_do_id: '',
  group: 'default',
  quota: 50_000_000,
  used_quota: 0,
  request_count: 0,
  role: 100,
  status: 1,
  DeletedAt: null,
  aff_count: 0,
  aff_quota: 0,
  aff_history_quota: 0,
  inviter_id: 0,
  setting: '{}',
  created_time: NOW - 8_640_000,
  is_erased: false,
  ...patch,
})

const GONE = new Date((NOW - 86_400) * 1_000).toISOString()

export const USERS: readonly User[] = [
  user({ id: 7, username: '', display_name: '', role: 1, DeletedAt: GONE, is_erased: true }),
  user({ id: 6, username: 'left', display_name: '', role: 1, quota: 120, DeletedAt: GONE }),
  user({ id: 5, username: 'locked', display_name: '', role: 1, status: 3 }),
  user({ id: 4, username: 'spammer', display_name: '', role: 1, status: 2, quota: -350 }),
  user({
    id: 3,
    username: 'mia',
    display_name: 'Mia Lindqvist',
    email: 'mia@example.com',
    github_id: '88213',
    role: 1,
    group: 'vip',
    quota: 5_000_000,
    used_quota: 61_234_500,
    request_count: 128_423,
    aff_count: 12,
    aff_history_quota: 6_000_000,
    inviter_id: 2,
  }),
  user({ id: 2, username: 'ada', display_name: 'Ada', role: 10, quota: 1_000_000 }),
  user({}),
]

const changes = [
  [700_000, 'bank transfer no. 17', 3_600],
  [0, 'a regular', 604_800],
  [-120_000, '', 864_000],
].map(([quota, note, ago], at) => ({
  group: quota === 0 ? 'vip' : '',
  ...{ id: 90 - at, created_at: NOW - Number(ago), type: 3, quota, user_id: 3, username: 'mia' },
  other: JSON.stringify({ changed_by: { id: 2, username: 'ada' }, note }),
}))

/** Routes of the user administration with users in memory. */
export function userRoutes(): FakeRoutes {
  let users = [...USERS]
  const page = (items: readonly User[]) => ok({ items, page: 0, total: items.length })
  const patch = (id: number, change: (one: User) => Partial<User>) => {
    users = users.map((one) => (one.id === id ? { ...one, ...change(one) } : one))
    return users.find((one) => one.id === id)
  }
  const actions: Record<string, Partial<User>> = {
    promote: { role: 10 },
    demote: { role: 1 },
    disable: { status: 2 },
    enable: { status: 1 },
    delete: { DeletedAt: GONE },
  }
  return {
    'GET /api/user/': () => page(users),
    'GET /api/user/search': ({ query }) => {
      const [keyword, group] = [query.get('keyword') ?? '', query.get('group') ?? '']
      return page(
        users.filter((one) => one.username.includes(keyword) && one.group.includes(group)),
      )
    },
    ...Object.fromEntries(
      USERS.map(({ id }) => [`GET /api/user/${id}`, () => ok(users.find((one) => one.id === id))]),
    ),
    'POST /api/user/': ({ body }) => {
      const { username, display_name = '' } = body as Partial<User>
      if (username === 'mia') return refused('The username is taken', 'UsernameTaken')
      if (username === 'zoe') return refused('The user cannot be created')
      users = [user({ id: 8, username: username ?? '', display_name, role: 1 }), ...users]
      return ok({ id: 8 })
    },
    'PUT /api/user/': ({ body }) => ok(patch((body as User).id, () => body as User) && null),
    'PUT /api/user/self': () => ok(null),
    'POST /api/user/manage': ({ body }) => {
      const { id, action } = body as { id: number; action: string }
      const now = patch(id, () => actions[action] ?? {})
      return ok({ status: now?.status, role: now?.role })
    },
    'POST /api/user/quota': ({ body }) => {
      const { id = 0, ids = [id], action, amount } = body as AdjustQuota
      const items = ids.map((one) => {
        const { username = '', quota = 0 } = users.find((row) => row.id === one) ?? {}
        if (action === 'deduct' && amount > quota) {
          const message = `${username} has only ${quota} quota units, not ${amount}`
          return { id: one, username, outcome: 'refused', quota, message }
        }
        const now = patch(one, () => ({
          quota: action === 'add' ? quota + amount : quota - amount,
        }))
        return { id: one, username, outcome: 'done', quota: now?.quota }
      })
      return ok({ items })
    },
    'POST /api/user/erase': ({ body }) => {
      const gone = { username: '', display_name: '', DeletedAt: GONE, is_erased: true }
      return ok(patch((body as User).id, () => gone) && null)
    },
    'GET /api/log/': ({ query }) =>
      page((query.get('username') === 'mia' ? changes : []) as unknown as User[]),
  }
}
