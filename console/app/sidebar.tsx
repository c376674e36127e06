import { useLayoutEffect, useRef } from 'react'
import { useTranslation } from 'react-i18next'
import { NavLink, useLocation } from 'react-router-dom'
import { currentScratchCopy } from '#console/api/scratch-copy.ts'
import { useUser } from '#console/api/session.ts'
import { useChatLinks } from '#console/ui/chat-links/use-chat-links.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { Icon } from '#console/ui/elements/icons.tsx'
import { useStatus } from '../api/status.ts'
import { type NavItem, navItems } from './navigation.ts'

export function Sidebar(props: {
  isCollapsed: boolean
  onCollapse: (isCollapsed: boolean) => void
}) {
  const { t } = useTranslation()
  return (
    <aside className="tg-sidebar">
      <NavSections isCollapsed={props.isCollapsed} />
      <div className="tg-sidebar-foot">
        <Button
          tone="quiet"
          icon="panel"
          label={props.isCollapsed ? t('shell.expand') : t('shell.collapse')}
          onClick={() => props.onCollapse(!props.isCollapsed)}
        />
      </div>
    </aside>
  )
}

export function NavSections(props: { isCollapsed: boolean; onFollow?: () => void }) {
  const { t } = useTranslation()
  const items = navItems(useUser(), useStatus())
  const within = (section: NavItem['section']): SideLink[] =>
    items.filter((item) => item.section === section).map(asLink)
  const asLink = ({ label, ...item }: NavItem): SideLink => ({ ...item, text: t(`shell.${label}`) })
  const ownChats = useChatLinks()
  const chats = (currentScratchCopy() === null ? ownChats : []).map(({ name }, index): SideLink => {
    return { path: `/chat/${index}`, text: name, icon: 'send' }
  })
  const [admin, audit] = [within('admin'), within('audit')]
  const nav = useActiveLinkInView(items.length + chats.length)
  return (
    <nav ref={nav} aria-label={t('shell.navigation')}>
      <NavSection {...props} title={t('shell.sectionChat')} items={[...chats, ...within('chat')]} />
      <NavSection {...props} title={t('shell.console')} items={within('console')} />
      {admin.length > 0 && <NavSection {...props} title={t('shell.sectionAdmin')} items={admin} />}
      {audit.length > 0 && <NavSection {...props} title={t('shell.sectionAudit')} items={audit} />}
      <NavSection {...props} title={t('shell.sectionPersonal')} items={within('personal')} />
    </nav>
  )
}

/**
 * Returns a ref for the navigation. The link of the open page is scrolled into view when the URL or
 * the number of links changes. The number of links changes while the console loads, because some
 * links depend on the status of the site.
 */
function useActiveLinkInView(links: number) {
  const nav = useRef<HTMLElement>(null)
  const shown = useRef('')
  const { pathname } = useLocation()
  useLayoutEffect(() => {
    const view = `${pathname} ${links}`
    if (shown.current === view) return
    shown.current = view
    const link = nav.current?.querySelector<HTMLElement>('.tg-nav-link.active')
    const scroller = nav.current?.parentElement
    if (link && scroller) scrollToMiddleIfHidden(link, scroller)
  })
  return nav
}

/**
 * Scrolls a link to the middle of `scroller` if the link is hidden. Unlike `scrollIntoView`, this
 * function never scrolls the page that contains `scroller`.
 */
function scrollToMiddleIfHidden(link: HTMLElement, scroller: HTMLElement): void {
  const [inner, outer] = [link.getBoundingClientRect(), scroller.getBoundingClientRect()]
  if (inner.top >= outer.top && inner.bottom <= outer.bottom) return
  const offset = inner.top + inner.height / 2 - (outer.top + outer.height / 2)
  scroller.scrollTop += offset
}

type SideLink = Pick<NavItem, 'path' | 'icon' | 'relatedPath'> & { readonly text: string }

function NavSection(props: {
  title: string
  items: readonly SideLink[]
  isCollapsed: boolean
  onFollow?: () => void
}) {
  const { pathname } = useLocation()
  if (props.items.length === 0) return null
  const isRelatedPathOpen = ({ relatedPath }: SideLink) =>
    relatedPath?.endsWith('/') === true
      ? pathname.startsWith(relatedPath)
      : pathname === relatedPath
  return (
    <>
      <p className="tg-nav-title" aria-hidden={props.isCollapsed}>
        {props.title}
      </p>
      <ul aria-label={props.title}>
        {props.items.map((item) => (
          <li key={item.path}>
            <NavLink
              to={item.path}
              className={isRelatedPathOpen(item) ? 'tg-nav-link active' : 'tg-nav-link'}
              title={props.isCollapsed ? item.text : undefined}
              onClick={() => props.onFollow?.()}
            >
              <Icon name={item.icon} />
              <span>{item.text}</span>
            </NavLink>
          </li>
        ))}
      </ul>
    </>
  )
}
