import type { ReactElement } from 'react'
import { Link } from 'react-router-dom'
import { Icon, type IconName } from './icons.tsx'

/** Leads to another page, and looks like a button. */
export function ButtonLink(props: {
  to: string
  children: string
  icon?: IconName
  tone?: 'primary' | 'normal'
  /** What the page that is led to is told, such as where its form leads back to. */
  state?: object
}): ReactElement {
  const { to, icon, tone = 'normal', state } = props
  return (
    <Link className={`tg-button tg-button-${tone} tg-button-medium`} to={to} state={state}>
      {icon !== undefined && <Icon name={icon} />}
      <span>{props.children}</span>
    </Link>
  )
}
