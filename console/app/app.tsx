import { OverlaysProvider } from '@blueprintjs/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { RouterProvider } from 'react-router-dom'
import { loginPath } from '../api/auth/login-return-path.ts'
import { createQueryClient } from '../api/query-client.ts'
import { onSessionExpired, onUserChange, storedUser } from '../api/session.ts'
import { loadChineseFonts } from '../theme/chinese-fonts.ts'
import { ConfirmHost } from '../ui/dialogs/confirm.tsx'
import { ManualCopyHost } from '../ui/elements/copy-to-clipboard.tsx'
import { Announcer } from '../ui/messages/screen-reader-announcer.tsx'
import { dismissPageToasts } from '../ui/messages/toast.ts'
import { Toaster } from '../ui/messages/toaster.tsx'
import { createRouter } from './routes.tsx'

const WEIGHTS = [400, 600]

/**
 * Loads the Chinese glyphs of the texts for failed connections in advance. Otherwise, the browser
 * would download these glyphs only when they are first shown, and it can't download them while it
 * is offline.
 */
function useOfflineGlyphs(): void {
  const { t, i18n } = useTranslation()
  const { language } = i18n
  useEffect(() => {
    if (!language.startsWith('zh')) return
    const text = [
      t('ui.pageLoadFailed'),
      t('ui.pageLoadFailedBody'),
      t('ui.retry'),
      t('request.network'),
      t('request.health.offline'),
      t('request.health.unreachable'),
      t('request.health.down'),
    ].join('')
    loadChineseFonts()
      .then(() => {
        const fonts = WEIGHTS.map((weight) => `${weight} 14px 'Noto Sans SC'`)
        return Promise.all(fonts.map((font) => document.fonts.load(font, text)))
      })
      .catch(() => {})
  }, [t, language])
}

export function App() {
  const [client] = useState(createQueryClient)
  const [router] = useState(() => createRouter(client))
  useEffect(() => {
    return onSessionExpired(() => {
      client.clear()
      // After the login, the user returns to the page that is open now, not to the first page of
      // the tab.
      const { pathname, search } = router.state.location
      void router.navigate(loginPath(`${pathname}${search}`, { isExpired: true }), {
        replace: true,
      })
    })
  }, [client, router])
  useEffect(() => {
    let { pathname } = router.state.location
    return router.subscribe(({ location }) => {
      if (location.pathname !== pathname) dismissPageToasts()
      pathname = location.pathname
    })
  }, [router])
  useOfflineGlyphs()
  useEffect(() => {
    let last = storedUser()?.id
    return onUserChange((user) => {
      // After a logout or another login in any tab, cached data belongs to the previous user.
      if (user?.id !== last) client.clear()
      last = user?.id
    })
  }, [client])
  return (
    <OverlaysProvider>
      <QueryClientProvider client={client}>
        <RouterProvider router={router} />
        <ConfirmHost />
        <ManualCopyHost />
        <Toaster />
        <Announcer />
      </QueryClientProvider>
    </OverlaysProvider>
  )
}
