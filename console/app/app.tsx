import { OverlaysProvider } from '@blueprintjs/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { type ReactElement, useEffect, useState } from 'react'
import { RouterProvider } from 'react-router-dom'
import { loginPath } from '#console/api/auth/return-to.ts'
import { createQueryClient } from '#console/api/query-client.ts'
import { onSessionExpired, onUserChange, storedUser } from '#console/api/session.ts'
import { Announcer } from '#console/ui/announcer.tsx'
import { ConfirmHost } from '#console/ui/confirm.tsx'
import { CopyByHandHost } from '#console/ui/copy-by-hand.tsx'
import { dismissLeft } from '#console/ui/toast.ts'
import { Toaster } from '#console/ui/toaster.tsx'
import { createRouter } from './routes.tsx'
import { useOfflineGlyphs } from './use-offline-glyphs.ts'

/** Everything that exists once: the cache, the router, and the hosts of dialogs and toasts. */
export function App(): ReactElement {
  const [client] = useState(createQueryClient)
  const [router] = useState(() => createRouter(client))
  useEffect(() => {
    return onSessionExpired(() => {
      client.clear()
      // As it is now: a page without a query must not take that of the tab's first one.
      const { pathname, search } = router.state.location
      void router.navigate(loginPath(`${pathname}${search}`, { isExpired: true }), {
        replace: true,
      })
    })
  }, [client, router])
  useEffect(() => {
    let { pathname } = router.state.location
    return router.subscribe(({ location }) => {
      if (location.pathname !== pathname) dismissLeft()
      pathname = location.pathname
    })
  }, [router])
  useOfflineGlyphs()
  useEffect(() => {
    let last = storedUser()?.id
    return onUserChange((user) => {
      // Another tab logged out or in as somebody else: nothing read so far may stay.
      if (user?.id !== last) client.clear()
      last = user?.id
    })
  }, [client])
  return (
    <OverlaysProvider>
      <QueryClientProvider client={client}>
        <RouterProvider router={router} />
        <ConfirmHost />
        <CopyByHandHost />
        <Toaster />
        <Announcer />
      </QueryClientProvider>
    </OverlaysProvider>
  )
}
