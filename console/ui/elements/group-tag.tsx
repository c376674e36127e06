import { useTranslation } from 'react-i18next'
import { useSharedStatus } from '#console/api/status.ts'
import './group-tag.css'

export function GroupTag({ name }: { name: string }) {
  const colors = useSharedStatus()?.group_colors
  const color = colors !== undefined && Object.hasOwn(colors, name) ? colors[name] : undefined
  return <GroupBadge name={name} color={color ?? ''} />
}

export const groupTag = (name: string) => <GroupTag name={name} />

/**
 * Shows the name of a group on a colored badge. `color` is a property, because the settings page
 * shows colors that are not saved yet.
 */
export function GroupBadge(props: { name: string; color: string }) {
  const color = /^[a-z]+$/.test(props.color) ? ` tg-group-${props.color}` : ''
  return <span className={`tg-group${color}`}>{props.name}</span>
}

/**
 * The groups that every new site has, with the Chinese descriptions that the server stores for
 * them.
 */
const SHIPPED = { default: '默认分组', vip: 'vip分组' } as const

const isBuiltInGroup = (name: string): name is keyof typeof SHIPPED => Object.hasOwn(SHIPPED, name)

/**
 * Returns a function that translates the description of a group. The function translates only the
 * built-in descriptions, and returns a description that an admin has written unchanged.
 */
export function useTranslateGroupDescription(): (name: string, description: string) => string {
  const { t } = useTranslation()
  return (name, description) =>
    isBuiltInGroup(name) && description === SHIPPED[name] ? t(`ui.group.${name}`) : description
}
