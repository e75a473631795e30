// `express.static` as it comes: node servers/express-static.mjs <root>
import express from "express";
import { listen } from "./listen.mjs";

const [root = "."] = process.argv.slice(2);
listen(express().use(express.static(root)));
