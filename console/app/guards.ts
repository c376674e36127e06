import { type QueryClient, QueryObserver } from '@tanstack/react-query'
import { type LoaderFunction, redirect } from 'react-router-dom'
import { ApiError } from '#console/api/api-error.ts'
import { loginPath } from '#console/api/auth/return-to.ts'
import { storedUser } from '#console/api/session.ts'
import { needAllWords, translate } from '#console/i18n/i18n.ts'
import { showError } from '#console/ui/messages/toast.ts'
import { cachedStatus, loadNotice, statusQuery } from '../api/status.ts'

/**
 * Until the site has a root account, every path leads to the setup page; afterwards none does. A
 * browser that has seen the completed setup does not wait for the answer, which is checked in the
 * background.
 */
export function ifNotSetUp(client: QueryClient, leaveForSetup: () => void): LoaderFunction {
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
 * Only checks for a stored user: the server authorizes every request, and its 401 leads here too.
 */
export const onlyLoggedIn: LoaderFunction = async ({ request }) => {
  if (storedUser() !== null) {
    await needAllWords()
    return null
  }
  const { pathname, search } = new URL(request.url)
  return redirect(loginPath(`${pathname}${search}`, { isExpired: false }))
}

/** Uses a separate observer, so that leaving a page does not cancel the request. */
function followStatus(client: QueryClient, leaveForSetup: () => void): void {
  const observer = new QueryObserver(client, statusQuery)
  let isTold = false
  observer.subscribe(({ data, failureReason }) => {
    if (failureReason !== null && !isTold) {
      isTold = true
      tellFailure(failureReason)
    }
    if (data === undefined) return
    observer.destroy()
    if (!data.setup) leaveForSetup()
  })
}

/** Undefined when the server cannot be reached: the visitor sees a message and the page stays. */
async function readSetup(client: QueryClient): Promise<boolean | undefined> {
  try {
    const status = await client.fetchQuery({ ...statusQuery, retry: false })
    return status.setup
  } catch (error) {
    tellFailure(error)
    return undefined
  }
}

/**
 * The messages that the specification prescribes for a negative answer and for a failed request.
 */
const tellFailure = (error: unknown): void =>
  showError(new Error(translate(isAnswered(error) ? 'shell.unreachable' : 'shell.statusFailed')))

const isAnswered = (error: unknown): boolean =>
  error instanceof ApiError && error.status >= 200 && error.status < 300
