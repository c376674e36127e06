import './group-tag.css'
import { useSharedStatus } from '#console/api/status.ts'

export function GroupTag({ name }: { name: string }) {
  const colors = useSharedStatus()?.group_colors
  const color = colors !== undefined && Object.hasOwn(colors, name) ? colors[name] : undefined
  return <GroupBadge name={name} color={color ?? ''} />
}

export const groupTag = (name: string) => <GroupTag name={name} />

/**
 * Shows the name of a group on a coloured badge. `color` is a property, because the settings page
 * shows colours that are not saved yet.
 */
export function GroupBadge(props: { name: string; color: string }) {
  const color = /^[a-z]+$/.test(props.color) ? ` tg-group-${props.color}` : ''
  return <span className={`tg-group${color}`}>{props.name}</span>
}
