import { useTranslation } from 'react-i18next'

/**
 * The groups that every new site has, with the Chinese descriptions that the server stores for
 * them.
 */
const SHIPPED = { default: '默认分组', vip: 'vip分组' } as const

const isBuiltInGroup = (name: string): name is keyof typeof SHIPPED => Object.hasOwn(SHIPPED, name)

/**
 * Returns a function that translates the description of a group. It translates only the built-in
 * descriptions. A description that an admin has written is shown as it is.
 */
export function useTranslateGroupDescription(): (name: string, description: string) => string {
  const { t } = useTranslation()
  return (name, description) =>
    isBuiltInGroup(name) && description === SHIPPED[name] ? t(`ui.group.${name}`) : description
}
