import { useTranslation } from 'react-i18next'

/** The groups that every new site has, with the Chinese descriptions that the server stores. */
const SHIPPED = { default: '默认分组', vip: 'vip分组' } as const

const isShipped = (name: string): name is keyof typeof SHIPPED => Object.hasOwn(SHIPPED, name)

/**
 * Returns a function that translates the description of a group. Only the built-in descriptions are
 * translated: if an admin has changed a description, it is shown unchanged.
 */
export function useTranslateGroupDescription(): (name: string, description: string) => string {
  const { t } = useTranslation()
  return (name, description) =>
    isShipped(name) && description === SHIPPED[name] ? t(`ui.group.${name}`) : description
}
