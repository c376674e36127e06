import { Link } from 'react-router-dom'
import { Icon, type IconName } from './icons.tsx'

export function ButtonLink(props: {
  to: string
  children: string
  icon?: IconName
  tone?: 'primary' | 'normal'
  /**
   * The router state of the page that the link opens. This state can contain the path to open when
   * the form on that page closes.
   */
  state?: object
}) {
  const { to, icon, tone = 'normal', state } = props
  return (
    <Link className={`tg-button tg-button-${tone} tg-button-medium`} to={to} state={state}>
      {icon !== undefined && <Icon name={icon} />}
      <span>{props.children}</span>
    </Link>
  )
}
