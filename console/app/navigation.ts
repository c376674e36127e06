import { isAdmin } from '#console/api/session.ts'
import type { IconName } from '#console/ui/elements/icons.tsx'
import type { Status } from '#read-api/contract/status.ts'
import type { SessionUser } from '#read-api/contract/users.ts'

/** The second key of each page's shortcut. The first key is always `g` (go to). */
export const GO_KEYS = {
  playground: 'p',
  dashboard: 'd',
  usageLog: 'l',
  drawings: 'a',
  musicTasks: 'k',
  tokens: 't',
  wallet: 'w',
  inbox: 'i',
  messages: 'n',
  channels: 'c',
  health: 'h',
  redemptions: 'r',
  users: 'u',
  orders: 'o',
  settings: 's',
  me: 'm',
}

export type NavItem = {
  readonly path: string
  readonly label: keyof typeof GO_KEYS
  readonly icon: IconName
  readonly section: 'chat' | 'console' | 'admin' | 'personal'
  /** A second path of the page. A path that ends with `/` includes all paths below it. */
  readonly alsoBelow?: string
  readonly isOffered?: (status: Status | undefined) => boolean
}

const ITEMS: readonly NavItem[] = [
  { path: '/playground', label: 'playground', icon: 'chat', section: 'chat' },
  {
    path: '/app/dashboard',
    label: 'dashboard',
    icon: 'chart',
    section: 'console',
    isOffered: (status) => status?.enable_data_export !== false,
  },
  { path: '/app/tokens', label: 'tokens', icon: 'key', section: 'console' },
  { path: '/app/logs/api-usage', label: 'usageLog', icon: 'list', section: 'console' },
  {
    path: '/app/logs/drawing',
    label: 'drawings',
    icon: 'image',
    section: 'console',
    isOffered: (status) => status?.enable_drawing === true,
  },
  {
    path: '/app/logs/tasks',
    label: 'musicTasks',
    icon: 'music',
    section: 'console',
    isOffered: (status) => status?.enable_task === true,
  },
  {
    path: '/admin/channels',
    label: 'channels',
    icon: 'channels',
    section: 'admin',
    alsoBelow: '/channel/',
  },
  { path: '/admin/health', label: 'health', icon: 'pulse', section: 'admin' },
  { path: '/admin/coupons', label: 'redemptions', icon: 'ticket', section: 'admin' },
  {
    path: '/admin/users',
    label: 'users',
    icon: 'users',
    section: 'admin',
    alsoBelow: '/user/edit/',
  },
  { path: '/admin/orders', label: 'orders', icon: 'book', section: 'admin' },
  {
    path: '/admin/messages',
    label: 'messages',
    icon: 'send',
    section: 'admin',
    alsoBelow: '/admin/messages/',
  },
  { path: '/admin/settings', label: 'settings', icon: 'settings', section: 'admin' },
  { path: '/app/wallet', label: 'wallet', icon: 'wallet', section: 'personal' },
  { path: '/app/inbox', label: 'inbox', icon: 'bell', section: 'personal' },
  {
    path: '/app/me',
    label: 'me',
    icon: 'user',
    section: 'personal',
    alsoBelow: '/user/edit',
  },
]

export function navItems(user: SessionUser | null, status: Status | undefined): NavItem[] {
  return ITEMS.filter(
    (item) => (item.section !== 'admin' || isAdmin(user)) && (item.isOffered?.(status) ?? true),
  )
}
