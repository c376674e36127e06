import type { ReactElement } from 'react'
import { Link } from 'react-router-dom'
import { Icon, type IconName } from './icons.tsx'

/** Leads to another page, and looks like a button. */
export function ButtonLink(props: {
  to: string
  children: string
  icon?: IconName
  tone?: 'primary' | 'normal'
}): ReactElement {
  const { to, icon, tone = 'normal' } = props
  return (
    <Link className={`tg-button tg-button-${tone} tg-button-medium`} to={to}>
      {icon !== undefined && <Icon name={icon} />}
      <span>{props.children}</span>
    </Link>
  )
}
