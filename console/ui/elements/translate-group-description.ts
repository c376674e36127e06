import { useTranslation } from 'react-i18next'

/** The Chinese descriptions of the groups that every new site has. */
const SHIPPED = { default: '默认分组', vip: 'vip分组' } as const

const isShipped = (name: string): name is keyof typeof SHIPPED => Object.hasOwn(SHIPPED, name)

/**
 * Returns a function that translates a group's description. Only the descriptions that every new
 * site has are translated.
 */
export function useTranslateGroupDescription(): (name: string, description: string) => string {
  const { t } = useTranslation()
  return (name, description) =>
    isShipped(name) && description === SHIPPED[name] ? t(`ui.group.${name}`) : description
}
