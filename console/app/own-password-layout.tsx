import { lazy, type ReactElement, Suspense } from 'react'
import { useLogout } from './account-menu.tsx'
import { Footer } from './footer.tsx'
import { PlainHttp } from './plain-http.tsx'
import { SkipLink } from './skip-link.tsx'
import { TopBar } from './top-bar.tsx'

const OwnPasswordPage = lazy(async () => ({
  default: (await import('../features/me/own-password-page.tsx')).OwnPasswordPage,
}))

/** In place of the console, until whoever came in by a reset has chosen a password. */
export function OwnPasswordLayout(): ReactElement {
  const leave = useLogout()
  return (
    <div className="tg-public">
      <SkipLink />
      <TopBar />
      <PlainHttp />
      <main id="main" className="tg-public-main" tabIndex={-1}>
        <Suspense fallback={null}>
          <OwnPasswordPage onLeave={leave} />
        </Suspense>
      </main>
      <Footer />
    </div>
  )
}
