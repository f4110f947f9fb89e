// Takes a screenshot of the page while a call is held: `picture.mjs ADDRESS FILE`.
import {createRequire} from "node:module";
const require = createRequire(process.env.PIPEWRIGHT_WEB_TESTS + "/");
const {chromium} = require("@playwright/test");

const [address, file] = process.argv.slice(2);
const browser = await chromium.launch({executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"]});
const page = await browser.newPage({viewport: {width: 1280, height: 860}});
await page.goto(address);
await page.getByRole("button", {name: /^Approve/}).waitFor();
await page.waitForTimeout(1000);
await page.screenshot({path: file});
await browser.close();
