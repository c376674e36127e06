import type { QueryClient } from '@tanstack/react-query'
import type { ComponentType } from 'react'
import { createBrowserRouter, matchRoutes, type RouteObject } from 'react-router-dom'
import { loadAllTranslations, loadTranslations } from '#console/i18n/i18n.ts'
import { ConsoleLayout } from './console-layout.tsx'
import { CrashPage, loadPage, NotFoundPage } from './error-pages.tsx'
import { PublicLayout } from './public-layout.tsx'
import { redirectToSetup, requireLogin } from './setup-and-login-guards.ts'
import { ShellSkeleton } from './shell-skeleton.tsx'

type PageModule<Name extends string> = Record<Name, ComponentType>

const page = <Name extends string>(
  path: string,
  load: () => Promise<PageModule<Name>>,
  name: Name,
): RouteObject => ({ path, ...chunk(load, name) })

/**
 * Creates a route with several paths. The page keeps its state when the URL changes from one of
 * these paths to another.
 */
const pageAt = <Name extends string>(
  paths: readonly string[],
  load: () => Promise<PageModule<Name>>,
  name: Name,
): RouteObject => ({
  ...chunk(load, name),
  children: paths.map((path) => ({ path, element: null })),
})

const chunk = <Name extends string>(load: () => Promise<PageModule<Name>>, name: Name) => ({
  errorElement: <CrashPage />,
  lazy: () => loadPage(async () => (await load())[name]),
})

const pageWithTexts = <Name extends string>(
  path: string,
  load: () => Promise<PageModule<Name>>,
  name: Name,
): RouteObject => page(path, withPageTexts(load), name)

const withPageTexts =
  <Module,>(load: () => Promise<Module>): (() => Promise<Module>) =>
  async () => {
    const [module] = await Promise.all([load(), loadTranslations('pages')])
    return module
  }

const withAuditTexts =
  <Module,>(load: () => Promise<Module>): (() => Promise<Module>) =>
  async () => {
    // The page with proofs is also shown without a login. In that case, the shared texts may not be
    // loaded yet.
    const texts = [loadAllTranslations(), loadTranslations('audit'), loadTranslations('logDetails')]
    const [module] = await Promise.all([load(), ...texts])
    return module
  }

const PUBLIC_PAGES: RouteObject[] = [
  page('/', () => import('../features/home/home-page.tsx'), 'HomePage'),
  page('/about', () => import('../features/about/about-page.tsx'), 'AboutPage'),
  pageWithTexts('/pricing', () => import('../features/pricing/pricing-page.tsx'), 'PricingPage'),
  page(
    '/proof',
    withAuditTexts(() => import('../features/audit/proofs/public-proof-page.tsx')),
    'PublicProofPage',
  ),
  page('/chat/:id?', () => import('../features/chat/chat-page.tsx'), 'ChatPage'),
  page('/setup', () => import('../features/setup/setup-page.tsx'), 'SetupPage'),
  page('/login', () => import('../features/login/login-page.tsx'), 'LoginPage'),
  page('/register', () => import('../features/register/register-page.tsx'), 'RegisterPage'),
  page(
    '/reset',
    () => import('../features/password-reset/request-reset-page.tsx'),
    'RequestResetPage',
  ),
  page(
    '/user/reset',
    () => import('../features/password-reset/confirm-reset-page.tsx'),
    'ConfirmResetPage',
  ),
  pageAt(
    ['/oauth/github', '/oauth/oidc', '/oauth/linuxdo', '/oauth/telegram'],
    () => import('../features/login/oauth-page.tsx'),
    'OAuthPage',
  ),
]

const CONSOLE_PAGES: RouteObject[] = [
  pageWithTexts(
    '/playground',
    () => import('../features/playground/playground-page.tsx'),
    'PlaygroundPage',
  ),
  pageWithTexts(
    '/app/dashboard',
    () => import('../features/dashboard/dashboard-page.tsx'),
    'DashboardPage',
  ),
  pageWithTexts(
    '/app/start',
    () => import('../features/dashboard/dashboard-page.tsx'),
    'StartPage',
  ),
  pageWithTexts('/app/tokens', () => import('../features/tokens/tokens-page.tsx'), 'TokensPage'),
  page(
    '/app/logs/api-usage',
    () => import('../features/usage-log/usage-log-page.tsx'),
    'UsageLogPage',
  ),
  page('/chat2link', () => import('../features/chat/chat-redirect-page.tsx'), 'ChatRedirectPage'),
  pageWithTexts(
    '/app/logs/drawing',
    () => import('../features/task-logs/drawings-page.tsx'),
    'DrawingsPage',
  ),
  pageWithTexts(
    '/app/logs/tasks',
    () => import('../features/task-logs/music-and-video-tasks-page.tsx'),
    'MusicAndVideoTasksPage',
  ),
  pageWithTexts('/app/wallet', () => import('../features/wallet/wallet-page.tsx'), 'WalletPage'),
  page('/app/inbox', () => import('../features/inbox/inbox-page.tsx'), 'InboxPage'),
  page('/app/inbox/:id', () => import('../features/inbox/message-page.tsx'), 'MessagePage'),
  page('/app/me', () => import('../features/me/me-page.tsx'), 'MePage'),
  pageAt(
    ['/admin/channels', '/channel/add', '/channel/edit/:id'],
    () => import('../features/channels/channels-page.tsx'),
    'ChannelsPage',
  ),
  pageWithTexts(
    '/admin/coupons',
    () => import('../features/redemptions/redemptions-page.tsx'),
    'RedemptionsPage',
  ),
  page(
    '/admin/health',
    () => import('../features/channel-health/channel-health-page.tsx'),
    'ChannelHealthPage',
  ),
  pageWithTexts('/admin/orders', () => import('../features/orders/orders-page.tsx'), 'OrdersPage'),
  pageAt(
    ['/admin/users', '/user/edit/:id'],
    withPageTexts(() => import('../features/users/users-page.tsx')),
    'UsersPage',
  ),
  pageWithTexts(
    '/user/edit',
    () => import('../features/users/edit-own-profile-page.tsx'),
    'EditOwnProfilePage',
  ),
  pageAt(
    ['/admin/messages', '/admin/messages/new', '/admin/messages/edit/:id'],
    withPageTexts(() => import('../features/messages/sent-messages-page.tsx')),
    'MessagesPage',
  ),
  pageWithTexts(
    '/admin/settings',
    () => import('../features/settings/settings-page.tsx'),
    'SettingsPage',
  ),
]

const AUDIT_PAGES: RouteObject[] = [
  page(
    '/app/ledger',
    withAuditTexts(() => import('../features/audit/ledger/ledger-page.tsx')),
    'LedgerPage',
  ),
  page(
    '/app/audit/ledgers',
    withAuditTexts(() => import('../features/audit/ledger/ledgers-page.tsx')),
    'LedgersPage',
  ),
  page(
    '/app/audit/ledgers/:userId',
    withAuditTexts(() => import('../features/audit/ledger/ledger-page.tsx')),
    'UserLedgerPage',
  ),
  pageAt(
    ['/app/calls', '/app/calls/:requestId'],
    withAuditTexts(() => import('../features/audit/calls/call-page.tsx')),
    'CallPage',
  ),
  page(
    '/app/audit/proofs',
    withAuditTexts(() => import('../features/audit/proofs/proofs-page.tsx')),
    'ProofsPage',
  ),
  page(
    '/app/audit/log',
    withAuditTexts(() => import('../features/audit/log/audit-log-page.tsx')),
    'AuditLogPage',
  ),
  page(
    '/app/audit/history',
    withAuditTexts(() => import('../features/audit/history/history-page.tsx')),
    'HistoryPage',
  ),
  page(
    '/app/audit/events',
    withAuditTexts(() => import('../features/audit/events/events-page.tsx')),
    'EventsPage',
  ),
  page(
    '/app/audit/reconciliation',
    withAuditTexts(() => import('../features/audit/reconciliation/reconciliation-page.tsx')),
    'ReconciliationPage',
  ),
  page(
    '/app/audit/invoices/:id',
    withAuditTexts(() => import('../features/audit/reconciliation/provider-invoice-page.tsx')),
    'ProviderInvoicePage',
  ),
]

const isKnownPath = (path: string): boolean =>
  matchRoutes([...PUBLIC_PAGES, ...CONSOLE_PAGES, ...AUDIT_PAGES], path) !== null

export function createRouter(client: QueryClient) {
  const leaveForSetup = () => void router.navigate('/setup', { replace: true })
  const router = createBrowserRouter([
    {
      loader: redirectToSetup(client, leaveForSetup),
      shouldRevalidate: () => false,
      hydrateFallbackElement: <ShellSkeleton />,
      errorElement: <CrashPage />,
      children: [
        {
          element: <PublicLayout isKnownPath={isKnownPath} />,
          children: [...PUBLIC_PAGES, { path: '*', Component: NotFoundPage }],
        },
        {
          element: <ConsoleLayout />,
          loader: requireLogin,
          shouldRevalidate: ({ currentUrl, nextUrl }) => currentUrl.pathname !== nextUrl.pathname,
          children: [...CONSOLE_PAGES, ...AUDIT_PAGES],
        },
      ],
    },
  ])
  return router
}
