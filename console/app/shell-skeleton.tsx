import { useTranslation } from 'react-i18next'
import { storedUser } from '#console/api/session.ts'
import { useDelayed } from '#console/ui/layout/skeleton.tsx'
import { readFlag, useLocalPreference } from '#console/ui/state/use-local-preference.ts'
import { useIsMedium, useIsNarrow } from '#console/ui/state/use-media-query.ts'
import { cachedStatus } from '../api/status.ts'

const LINKS = [62, 48, 70, 55, 66, 44, 58]

export function ShellSkeleton() {
  const { t } = useTranslation()
  const isNarrow = useIsNarrow()
  const isMedium = useIsMedium()
  const [isCollapsed] = useLocalPreference(
    'default_collapse_sidebar',
    cachedStatus()?.default_collapse_sidebar === true,
    readFlag,
  )
  const isShown = useDelayed(true)
  if (!isShown) return null
  const isConsolePage = storedUser() !== null && !isWithoutSidebar(window.location.pathname)
  const isSlim = isCollapsed || isMedium
  return (
    <div
      className={isSlim && !isNarrow ? 'tg-boot tg-shell tg-shell-collapsed' : 'tg-boot tg-shell'}
      aria-busy="true"
    >
      <p className="tg-visually-hidden" role="status">
        {t('ui.loading')}
      </p>
      <div className="tg-top" aria-hidden="true">
        <Bar width={112} height={18} />
        <div className="tg-top-end">
          <Bar width={isNarrow ? 72 : 160} height={18} />
        </div>
      </div>
      {isConsolePage && !isNarrow && (
        <div className="tg-sidebar tg-boot-links" aria-hidden="true">
          {LINKS.map((width) => (
            <Bar key={width} width={isSlim ? 18 : width * 2} height={16} />
          ))}
        </div>
      )}
      <div className={isConsolePage ? 'tg-main' : 'tg-main tg-boot-bare'} aria-hidden="true">
        <Bar width={180} height={26} />
        <Bar width={320} height={14} />
        <Bar height={220} />
      </div>
    </div>
  )
}

function Bar(props: { width?: number; height: number }) {
  const { width, height } = props
  return (
    <span className="tg-skeleton tg-skeleton-shown" style={{ width: width ?? '100%', height }} />
  )
}

const WITHOUT_SIDEBAR = /^\/(setup|login|register|reset|user\/reset|oauth\/.*|chat(?:\/.*)?)?$/

export const isWithoutSidebar = (pathname: string): boolean => WITHOUT_SIDEBAR.test(pathname)
