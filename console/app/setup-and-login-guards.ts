import { type QueryClient, QueryObserver } from '@tanstack/react-query'
import { type LoaderFunction, redirect } from 'react-router-dom'
import { ApiError } from '#console/api/api-error.ts'
import { loginPath } from '#console/api/auth/login-return-path.ts'
import { storedUser } from '#console/api/session.ts'
import { loadAllTranslations, translate } from '#console/i18n/i18n.ts'
import { showError } from '#console/ui/messages/toast.ts'
import { loadNotice } from '../api/notice-and-site-pages.ts'
import { cachedStatus, statusQuery } from '../api/status.ts'

/**
 * Returns a route loader that redirects to the setup page until the setup is complete. If the setup
 * was complete at the last visit, pages open without waiting for the server. If the server then
 * reports that the setup is not complete, `leaveForSetup` is called. After the setup, the setup
 * page redirects to the home page.
 */
export function redirectToSetup(client: QueryClient, leaveForSetup: () => void): LoaderFunction {
  return async ({ request }) => {
    const { pathname } = new URL(request.url)
    if (pathname !== '/setup' && cachedStatus()?.setup === true) {
      followStatus(client, leaveForSetup)
      return null
    }
    const [isSetUp] = await Promise.all([readSetup(client), loadNotice(client)])
    if (isSetUp === false && pathname !== '/setup') return redirect('/setup')
    if (isSetUp === true && pathname === '/setup') return redirect('/')
    return null
  }
}

/**
 * Redirects to the login page if this browser has no stored user. Otherwise, waits until
 * `loadAllTranslations` has loaded the texts. The session is not checked here, because the server
 * checks it on each request.
 */
export const requireLogin: LoaderFunction = async ({ request }) => {
  if (storedUser() !== null) {
    await loadAllTranslations()
    return null
  }
  const { pathname, search } = new URL(request.url)
  return redirect(loginPath(`${pathname}${search}`, { isExpired: false }))
}

/**
 * Reads the status, and calls `leaveForSetup` if the status says that the setup is not complete.
 * Shows an error if a request fails, but only once. A separate query observer keeps the request
 * running when the user opens another page.
 */
function followStatus(client: QueryClient, leaveForSetup: () => void): void {
  const observer = new QueryObserver(client, statusQuery)
  let isReported = false
  observer.subscribe(({ data, failureReason }) => {
    if (failureReason !== null && !isReported) {
      isReported = true
      showLoadError(failureReason)
    }
    if (data === undefined) return
    observer.destroy()
    if (!data.setup) leaveForSetup()
  })
}

async function readSetup(client: QueryClient): Promise<boolean | undefined> {
  try {
    const status = await client.fetchQuery({ ...statusQuery, retry: false })
    return status.setup
  } catch (error) {
    showLoadError(error)
    return undefined
  }
}

const showLoadError = (error: unknown): void =>
  showError(
    new Error(translate(hasSuccessStatus(error) ? 'shell.unreachable' : 'shell.statusFailed')),
  )

const hasSuccessStatus = (error: unknown): boolean =>
  error instanceof ApiError && error.status >= 200 && error.status < 300
