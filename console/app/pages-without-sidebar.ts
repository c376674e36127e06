const WITHOUT_SIDEBAR = /^\/(setup|login|register|reset|user\/reset|oauth\/.*|chat(?:\/.*)?)?$/

export const isWithoutSidebar = (pathname: string): boolean => WITHOUT_SIDEBAR.test(pathname)
