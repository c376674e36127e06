import { currentScratchCopy } from '#console/api/scratch-copy.ts'
import { isAdmin, isAuditor } from '#console/api/session.ts'
import type { IconName } from '#console/ui/elements/icons.tsx'
import type { Status } from '#read-api/contract/status.ts'
import type { SessionUser } from '#read-api/contract/users.ts'

/** The second key of the shortcut that opens a page. The first key is always `g` for "go to". */
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
  calls: 'q',
  proofs: 'v',
  auditLog: 'j',
  ledger: 'b',
  ledgers: 'f',
  history: 'y',
  events: 'e',
  reconciliation: 'x',
}

export type NavItem = {
  readonly path: string
  readonly label: keyof typeof GO_KEYS
  readonly icon: IconName
  readonly section: 'chat' | 'console' | 'admin' | 'audit' | 'personal'
  /**
   * Another path for which the navigation entry is marked as the open page. If this path ends with
   * `/`, the entry is marked for all paths that begin with this path.
   */
  readonly relatedPath?: string
  readonly isOffered?: (status: Status | undefined) => boolean
}

const inSection = (
  section: NavItem['section'],
  items: readonly Omit<NavItem, 'section'>[],
): NavItem[] => items.map((item) => ({ ...item, section }))

const isChartEnabled: NavItem['isOffered'] = (status) => status?.enable_data_export !== false
const hasDrawings: NavItem['isOffered'] = (status) => status?.enable_drawing === true
/** The page of these tasks lists music and videos. The option for music does not affect videos. */
const hasTasks: NavItem['isOffered'] = (status) =>
  status?.enable_task === true || status?.enable_video === true

const ITEMS: readonly NavItem[] = [
  ...inSection('chat', [{ path: '/playground', label: 'playground', icon: 'chat' }]),
  ...inSection('console', [
    { path: '/app/dashboard', label: 'dashboard', icon: 'chart', isOffered: isChartEnabled },
    { path: '/app/tokens', label: 'tokens', icon: 'key' },
    { path: '/app/logs/api-usage', label: 'usageLog', icon: 'list' },
    { path: '/app/logs/drawing', label: 'drawings', icon: 'image', isOffered: hasDrawings },
    { path: '/app/logs/tasks', label: 'musicTasks', icon: 'music', isOffered: hasTasks },
  ]),
  ...inSection('admin', [
    { path: '/admin/channels', label: 'channels', icon: 'channels', relatedPath: '/channel/' },
    { path: '/admin/health', label: 'health', icon: 'pulse' },
    { path: '/admin/coupons', label: 'redemptions', icon: 'ticket' },
    { path: '/admin/users', label: 'users', icon: 'users', relatedPath: '/user/edit/' },
    { path: '/admin/orders', label: 'orders', icon: 'book' },
    { path: '/admin/messages', label: 'messages', icon: 'send', relatedPath: '/admin/messages/' },
    { path: '/admin/settings', label: 'settings', icon: 'settings' },
  ]),
  ...inSection('audit', [
    {
      path: '/app/audit/ledgers',
      label: 'ledgers',
      icon: 'book',
      relatedPath: '/app/audit/ledgers/',
    },
    { path: '/app/calls', label: 'calls', icon: 'search', relatedPath: '/app/calls/' },
    { path: '/app/audit/log', label: 'auditLog', icon: 'list' },
    { path: '/app/audit/history', label: 'history', icon: 'clock' },
    { path: '/app/audit/events', label: 'events', icon: 'branch' },
    {
      path: '/app/audit/reconciliation',
      label: 'reconciliation',
      icon: 'refresh',
      relatedPath: '/app/audit/invoices/',
    },
    { path: '/app/audit/proofs', label: 'proofs', icon: 'check' },
  ]),
  ...inSection('personal', [
    { path: '/app/wallet', label: 'wallet', icon: 'wallet' },
    { path: '/app/ledger', label: 'ledger', icon: 'book' },
    { path: '/app/inbox', label: 'inbox', icon: 'bell' },
    { path: '/app/me', label: 'me', icon: 'user', relatedPath: '/user/edit' },
  ]),
]

/**
 * The pages that work while a scratch copy (the site as of an earlier time) is open, because the
 * copy has their data.
 */
const SCRATCH_COPY_PAGES: ReadonlySet<NavItem['label']> = new Set([
  ...(['dashboard', 'tokens', 'usageLog', 'drawings', 'musicTasks'] as const),
  ...(['channels', 'health', 'redemptions', 'users', 'orders'] as const),
  ...(['ledgers', 'calls', 'auditLog', 'history', 'events', 'proofs', 'ledger'] as const),
])

/** Reports whether the page at a path works while a scratch copy is open. */
export const worksInScratchCopies = (pathname: string): boolean =>
  ITEMS.some(
    ({ path, label, relatedPath = path }) =>
      SCRATCH_COPY_PAGES.has(label) &&
      (pathname === path || (relatedPath.endsWith('/') && pathname.startsWith(relatedPath))),
  )

export function navItems(user: SessionUser | null, status: Status | undefined): NavItem[] {
  const isVisible = { admin: isAdmin(user), audit: isAuditor(user) } as const
  const isOfCopy = currentScratchCopy() !== null
  return ITEMS.filter(
    ({ section, label, isOffered }) =>
      (!isOfCopy || SCRATCH_COPY_PAGES.has(label)) &&
      (section === 'admin' || section === 'audit' ? isVisible[section] : true) &&
      (isOffered?.(status) ?? true),
  )
}
