import { useTranslation } from 'react-i18next'
import { NavLink, useLocation } from 'react-router-dom'
import { openCopy } from '#console/api/scratch-copy.ts'
import { useUser } from '#console/api/session.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { Icon } from '#console/ui/elements/icons.tsx'
import { useChats } from '#console/ui/state/use-chat-links.ts'
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
  const ownChats = useChats()
  const chats = (openCopy() === null ? ownChats : []).map(({ name }, index): SideLink => {
    return { path: `/chat/${index}`, text: name, icon: 'send' }
  })
  const [admin, audit] = [within('admin'), within('audit')]
  return (
    <nav className="tg-nav" aria-label={t('shell.navigation')}>
      <NavSection {...props} title={t('shell.sectionChat')} items={[...chats, ...within('chat')]} />
      <NavSection {...props} title={t('shell.console')} items={within('console')} />
      {admin.length > 0 && <NavSection {...props} title={t('shell.sectionAdmin')} items={admin} />}
      {audit.length > 0 && <NavSection {...props} title={t('shell.sectionAudit')} items={audit} />}
      <NavSection {...props} title={t('shell.sectionPersonal')} items={within('personal')} />
    </nav>
  )
}

type SideLink = Pick<NavItem, 'path' | 'icon' | 'alsoBelow'> & { readonly text: string }

function NavSection(props: {
  title: string
  items: readonly SideLink[]
  isCollapsed: boolean
  onFollow?: () => void
}) {
  const { pathname } = useLocation()
  if (props.items.length === 0) return null
  const isBelow = ({ alsoBelow }: SideLink) =>
    alsoBelow?.endsWith('/') === true ? pathname.startsWith(alsoBelow) : pathname === alsoBelow
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
              className={isBelow(item) ? 'tg-nav-link active' : 'tg-nav-link'}
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
