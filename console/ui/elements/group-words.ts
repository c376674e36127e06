import { useTranslation } from 'react-i18next'

/** The stored descriptions of the groups of a new site. */
const SHIPPED = { default: '默认分组', vip: 'vip分组' } as const

const isShipped = (name: string): name is keyof typeof SHIPPED => Object.hasOwn(SHIPPED, name)

/** A group's description: the site's, or a translated one while it is the initial one. */
export function useGroupWords(): (name: string, description: string) => string {
  const { t } = useTranslation()
  return (name, description) =>
    isShipped(name) && description === SHIPPED[name] ? t(`ui.group.${name}`) : description
}
